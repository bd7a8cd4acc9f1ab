#include <hwy/highway.h>

#include "ops/families/recurrent/recurrent-inl.h"
#include "ops/families/recurrent/recurrent_16bit-inl.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"
#include "simd/packed.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_LSTM_ONCE_
#define THIMBLE_OPS_LSTM_ONCE_
namespace thimble::ops::lstm_impl {

// Memory of a call on 16-bit tensors.
struct NarrowScratch {
  float* packed;
  SmallInput h0, c0;
  TaskRows rows;
};

// row_units: f32 values of a row in a task's memory, in units.
inline NarrowScratch carve_narrow(simd::Workspace& workspace, const recurrent_dims& d,
                                  int row_units, int threads) {
  const int64_t units = d.units;
  NarrowScratch s;
  s.packed = workspace.take<float>(
      std::max(simd::packed_floats(units, 4 * units), simd::packed_floats(4 * units, units)));
  s.h0 = SmallInput(workspace, d.batch * units);
  s.c0 = SmallInput(workspace, d.batch * units);
  s.rows = TaskRows(workspace, row_units * units, threads);
  return s;
}
inline constexpr int kForwardUnits = 6;    // gates, h and c
inline constexpr int kBackwardUnits = 11;  // gates, which become dx; dh, dc, c twice, h, and the
                                           // gradients that are carried to the step before

}  // namespace thimble::ops::lstm_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::lstm_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Computes the gates, the cell and the hidden state of one sequence from the sums in `gates`.
void lstm_cell(float* h, float* c, float* gates, const float* c_before, int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const Vec in = math::sigmoid(io.load(gates, j));
    const Vec forget = math::sigmoid(io.load(gates + units, j));
    const Vec cell = math::tanh(io.load(gates + 2 * units, j));
    const Vec output = math::sigmoid(io.load(gates + 3 * units, j));
    const Vec now = hn::MulAdd(forget, load_or_zero(io, c_before, j), hn::Mul(in, cell));
    io.store(in, gates, j);
    io.store(forget, gates + units, j);
    io.store(cell, gates + 2 * units, j);
    io.store(output, gates + 3 * units, j);
    io.store(now, c, j);
    io.store(hn::Mul(output, math::tanh(now)), h, j);
  });
}

// All steps of sequences n to n + count.
template <class Output, class Input>
void scan(const Output& h, const Output& c, const Output& gates, const Input& x,
          const PackedMatrix& weights, const float* h0, const float* c0, const recurrent_dims& d,
          int n, int count) {
  for (int done = 0; done < d.steps; ++done) {
    const MutableRows gate = gates.place(d, n, done);
    x.read_to(gate, d, n, done, count);
    const Rows h_before = h.before(d, n, done, h0);
    const Rows c_before = c.before(d, n, done, c0);
    if (h_before.first) {
      multiply_packed(gate.first, gate.pitch, h_before.first, h_before.pitch, count, weights, true);
    }
    const MutableRows h_now = h.place(d, n, done);
    const MutableRows c_now = c.place(d, n, done);
    for (int i = 0; i < count; ++i) {
      lstm_cell(h_now.row(i), c_now.row(i), gate.row(i), c_before.row(i), d.units);
    }
    for (const Output* const output : {&gates, &c, &h}) output->finish(d, n, done, count);
  }
}

void lstm_target(float* h, float* c, float* gates, const float* x, const float* w, const float* h0,
                 const float* c0, void* workspace, const recurrent_dims& d,
                 parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(d.units, 4 * d.units)), d.units,
                             4 * d.units};
  pack_matrix(weights, w, true, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    scan(WideOutput{h, d.units}, WideOutput{c, d.units}, WideOutput{gates, 4 * d.units},
         WideInput{x, 4 * d.units}, weights, h0, c0, d, n, count);
  });
}

template <class Type>
void scan_16bit(const ir::KernelCall& call) {
  const NarrowCall narrow(call);
  const auto& d = narrow.params<recurrent_dims>();
  simd::Workspace own(call.workspace);
  const NarrowScratch s = carve_narrow(own, d, kForwardUnits, call.pool->threads());
  const PackedMatrix weights{s.packed, d.units, 4 * d.units};
  pack_weights(weights, narrow, 1, true, *call.pool);
  const float* const h0 = s.h0.of(narrow, 2);
  const float* const c0 = s.c0.of(narrow, 3);
  const auto* const x = static_cast<const uint16_t*>(call.inputs[0]);
  const ptrdiff_t rows = ptrdiff_t{kPackedRows} * d.units;
  over_sequences(d, *call.pool, [&](int n, int count, int worker) HWY_ATTR {
    float* const mine = s.rows.of(worker);
    const auto output = [&](int i, int width, float* place) {
      return NarrowOutput<Type>{static_cast<uint16_t*>(call.outputs[i]), width, place};
    };
    scan(output(0, d.units, mine), output(1, d.units, mine + rows),
         output(2, 4 * d.units, mine + 2 * rows), NarrowInput<Type>{x, 4 * d.units, nullptr},
         weights, h0, c0, d, n, count);
  });
}

void lstm_16bit_target(const ir::KernelCall& call) {
  NarrowCall(call).is_brain(0) ? scan_16bit<BrainFloat>(call) : scan_16bit<HalfFloat>(call);
}

// Gradients of one sequence at one step; dh_carried and dc_carried come from the next step. h:
// receives the hidden state, unless null.
void lstm_cell_grad(float* dx, float* dc_carried, float* h, const float* dh_carried,
                    const float* dh, const float* dc, const float* gates, const float* c,
                    const float* c_before, int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const Vec in = io.load(gates, j);
    const Vec forget = io.load(gates + units, j);
    const Vec cell = io.load(gates + 2 * units, j);
    const Vec output = io.load(gates + 3 * units, j);
    const Vec squashed = math::tanh(io.load(c, j));
    const Vec into_h = hn::Add(io.load(dh_carried, j), load_or_zero(io, dh, j));
    const Vec into_c = hn::MulAdd(hn::Mul(into_h, output), tanh_slope(squashed),
                                  hn::Add(io.load(dc_carried, j), load_or_zero(io, dc, j)));
    io.store(hn::Mul(hn::Mul(into_c, cell), sigmoid_slope(in)), dx, j);
    io.store(hn::Mul(hn::Mul(into_c, load_or_zero(io, c_before, j)), sigmoid_slope(forget)),
             dx + units, j);
    io.store(hn::Mul(hn::Mul(into_c, in), tanh_slope(cell)), dx + 2 * units, j);
    io.store(hn::Mul(hn::Mul(into_h, squashed), sigmoid_slope(output)), dx + 3 * units, j);
    io.store(hn::Mul(into_c, forget), dc_carried, j);
    if (h) io.store(hn::Mul(output, squashed), h, j);
  });
}

template <class Output, class Input>
struct GradRows {
  Output dx, dh0, dc0, h_before;
  Input dh, dc, gates, c, c_before;
};

// All steps of sequences n to n + count.
template <class Output, class Input>
void scan_grad(const GradRows<Output, Input>& r, const PackedMatrix& weights, const float* c0,
               const float* h0, const recurrent_dims& d, int n, int count) {
  const recurrent_dims state = one_step(d);
  const MutableRows dh_carried = r.dh0.place(state, n, 0);
  const MutableRows dc_carried = r.dc0.place(state, n, 0);
  for (int i = 0; i < count; ++i) {
    std::fill_n(dh_carried.row(i), d.units, 0.0F);
    std::fill_n(dc_carried.row(i), d.units, 0.0F);
  }
  for (int done = d.steps - 1; done >= 0; --done) {
    const Rows gate = r.gates.read(d, n, done, count);
    const Rows dh_now = r.dh.read(d, n, done, count);
    const Rows dc_now = r.dc.read(d, n, done, count);
    const Rows c_now = r.c.read(d, n, done, count);
    const Rows c_before = done > 0 ? r.c_before.read(d, n, done - 1, count)
                                   : step_rows(nullptr, c0, d, n, -1, d.units);
    const MutableRows out = r.dx.place(d, n, done);
    // h_before may alias c, whose next step was read before.
    const bool last = done + 1 == d.steps;
    const MutableRows h_now = last ? MutableRows{} : r.h_before.place(d, n, done + 1);
    for (int i = 0; i < count; ++i) {
      lstm_cell_grad(out.row(i), dc_carried.row(i), h_now.row(i), dh_carried.row(i), dh_now.row(i),
                     dc_now.row(i), gate.row(i), c_now.row(i), c_before.row(i), d.units);
    }
    multiply_packed(dh_carried.first, dh_carried.pitch, out.first, out.pitch, count, weights,
                    false);
    r.dx.finish(d, n, done, count);
    if (!last) r.h_before.finish(d, n, done + 1, count);
  }
  r.dh0.finish(state, n, 0, count);
  r.dc0.finish(state, n, 0, count);
  const MutableRows first = r.h_before.place(d, n, 0);
  const Rows given = step_rows(nullptr, h0, d, n, -1, d.units);
  for (int i = 0; i < count; ++i) {
    over_vectors(0, d.units, [&](const auto& io, int64_t j) HWY_ATTR {
      io.store(load_or_zero(io, given.row(i), j), first.row(i), j);
    });
  }
  r.h_before.finish(d, n, 0, count);
}

void lstm_grad_target(float* dx, float* dh0, float* dc0, float* h_before, const float* dh,
                      const float* dc, const float* gates, const float* c, const float* w,
                      const float* c0, const float* h0, void* workspace, const recurrent_dims& d,
                      parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(4 * d.units, d.units)),
                             4 * d.units, d.units};
  pack_matrix(weights, w, false, pool);
  const int units = d.units;
  const GradRows<WideOutput, WideInput> rows{{dx, 4 * units},    {dh0, units}, {dc0, units},
                                             {h_before, units},  {dh, units},  {dc, units},
                                             {gates, 4 * units}, {c, units},   {c, units}};
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    scan_grad(rows, weights, c0, h0, d, n, count);
  });
}

template <class Type>
void scan_grad_16bit(const ir::KernelCall& call) {
  const NarrowCall narrow(call);
  const auto& d = narrow.params<recurrent_dims>();
  simd::Workspace own(call.workspace);
  const NarrowScratch s = carve_narrow(own, d, kBackwardUnits, call.pool->threads());
  const PackedMatrix weights{s.packed, 4 * d.units, d.units};
  pack_weights(weights, narrow, 4, false, *call.pool);
  const float* const c0 = s.c0.of(narrow, 5);
  const float* const h0 = s.h0.of(narrow, 6);
  const ptrdiff_t rows = ptrdiff_t{kPackedRows} * d.units;
  over_sequences(d, *call.pool, [&](int n, int count, int worker) HWY_ATTR {
    float* const mine = s.rows.of(worker);
    const auto input = [&](int i, int at) {
      return narrow_input<Type>(narrow, i, d.units, mine + at * rows);
    };
    const auto output = [&](int i, int at) {
      return NarrowOutput<Type>{static_cast<uint16_t*>(call.outputs[i]), d.units, mine + at * rows};
    };
    GradRows<NarrowOutput<Type>, NarrowInput<Type>> r{output(0, 0), output(1, 4), output(2, 5),
                                                      output(3, 6), input(0, 7),  input(1, 8),
                                                      input(2, 0),  input(3, 9),  input(3, 10)};
    r.dx.width = r.gates.width = 4 * d.units;
    scan_grad(r, weights, c0, h0, d, n, count);
  });
}

void lstm_grad_16bit_target(const ir::KernelCall& call) {
  NarrowCall(call).is_brain(2) ? scan_grad_16bit<BrainFloat>(call)
                               : scan_grad_16bit<HalfFloat>(call);
}

}  // namespace thimble::ops::lstm_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::lstm_impl {
HWY_EXPORT(lstm_target);
HWY_EXPORT(lstm_grad_target);
HWY_EXPORT(lstm_16bit_target);
HWY_EXPORT(lstm_grad_16bit_target);

void lstm_16bit(const ir::KernelCall& call) { HWY_DYNAMIC_DISPATCH(lstm_16bit_target)(call); }

void lstm_grad_16bit(const ir::KernelCall& call) {
  HWY_DYNAMIC_DISPATCH(lstm_grad_16bit_target)(call);
}

int64_t lstm_16bit_workspace_bytes(const recurrent_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_narrow(counter, d, kBackwardUnits, threads);
  return counter.bytes();
}

int64_t lstm_workspace_bytes(const recurrent_dims& d) {
  simd::Workspace counter(nullptr);
  counter.take<float>(std::max(simd::packed_floats(d.units, 4 * d.units),
                               simd::packed_floats(4 * d.units, d.units)));
  return counter.bytes();
}

void lstm_simd(float* h, float* c, float* gates, const float* x, const float* w, const float* h0,
               const float* c0, void* workspace, const recurrent_dims* d,
               parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(lstm_target)(h, c, gates, x, w, h0, c0, workspace, *d, pool);
}

void lstm_grad_simd(float* dx, float* dh0, float* dc0, float* h_before, const float* dh,
                    const float* dc, const float* gates, const float* c, const float* w,
                    const float* c0, const float* h0, void* workspace, const recurrent_dims* d,
                    parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(lstm_grad_target)
  (dx, dh0, dc0, h_before, dh, dc, gates, c, w, c0, h0, workspace, *d, pool);
}

}  // namespace thimble::ops::lstm_impl
#endif
