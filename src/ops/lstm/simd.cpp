#include <hwy/highway.h>

#include "ops/families/recurrent/recurrent-inl.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"
#include "simd/packed.h"
#include "simd/workspace.h"

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

void lstm_target(float* h, float* c, float* gates, const float* x, const float* w, const float* h0,
                 const float* c0, void* workspace, const recurrent_dims& d,
                 parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(d.units, 4 * d.units)), d.units,
                             4 * d.units};
  pack_matrix(weights, w, true, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    for (int done = 0; done < d.steps; ++done) {
      const MutableRows gate = step_rows(gates, d, n, done, 4 * d.units);
      if (gates != x) {
        const Rows from = step_rows(x, nullptr, d, n, done, 4 * d.units);
        for (int i = 0; i < count; ++i) std::copy_n(from.row(i), 4 * d.units, gate.row(i));
      }
      const Rows h_before = step_rows(h, h0, d, n, done - 1, d.units);
      const Rows c_before = step_rows(c, c0, d, n, done - 1, d.units);
      if (h_before.first) {
        multiply_packed(gate.first, gate.pitch, h_before.first, h_before.pitch, count, weights,
                        true);
      }
      const MutableRows h_now = step_rows(h, d, n, done, d.units);
      const MutableRows c_now = step_rows(c, d, n, done, d.units);
      for (int i = 0; i < count; ++i) {
        lstm_cell(h_now.row(i), c_now.row(i), gate.row(i), c_before.row(i), d.units);
      }
    }
  });
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

void lstm_grad_target(float* dx, float* dh0, float* dc0, float* h_before, const float* dh,
                      const float* dc, const float* gates, const float* c, const float* w,
                      const float* c0, const float* h0, void* workspace, const recurrent_dims& d,
                      parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(4 * d.units, d.units)),
                             4 * d.units, d.units};
  pack_matrix(weights, w, false, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    const MutableRows dh_carried{dh0 + static_cast<ptrdiff_t>(n) * d.units, d.units};
    const MutableRows dc_carried{dc0 + static_cast<ptrdiff_t>(n) * d.units, d.units};
    std::fill_n(dh_carried.first, count * d.units, 0.0F);
    std::fill_n(dc_carried.first, count * d.units, 0.0F);
    for (int done = d.steps - 1; done >= 0; --done) {
      const MutableRows out = step_rows(dx, d, n, done, 4 * d.units);
      const Rows gate = step_rows(gates, nullptr, d, n, done, 4 * d.units);
      const Rows dh_now = step_rows(dh, nullptr, d, n, done, d.units);
      const Rows dc_now = step_rows(dc, nullptr, d, n, done, d.units);
      const Rows c_now = step_rows(c, nullptr, d, n, done, d.units);
      const Rows c_before = step_rows(c, c0, d, n, done - 1, d.units);
      // h_before may alias c, whose next step was read before.
      const bool last = done + 1 == d.steps;
      const MutableRows h_now = last ? MutableRows{} : step_rows(h_before, d, n, done + 1, d.units);
      for (int i = 0; i < count; ++i) {
        lstm_cell_grad(out.row(i), dc_carried.row(i), h_now.row(i), dh_carried.row(i),
                       dh_now.row(i), dc_now.row(i), gate.row(i), c_now.row(i), c_before.row(i),
                       d.units);
      }
      multiply_packed(dh_carried.first, dh_carried.pitch, out.first, out.pitch, count, weights,
                      false);
    }
    const MutableRows first = step_rows(h_before, d, n, 0, d.units);
    const Rows given = step_rows(nullptr, h0, d, n, -1, d.units);
    for (int i = 0; i < count; ++i) {
      over_vectors(0, d.units, [&](const auto& io, int64_t j) HWY_ATTR {
        io.store(load_or_zero(io, given.row(i), j), first.row(i), j);
      });
    }
  });
}

}  // namespace thimble::ops::lstm_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::lstm_impl {
HWY_EXPORT(lstm_target);
HWY_EXPORT(lstm_grad_target);

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
