#include <hwy/highway.h>

#include "ops/families/recurrent/recurrent-inl.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"
#include "simd/packed.h"
#include "simd/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::gru_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Computes the gates and the hidden state of one sequence from the products in `gates` (reset and
// update, including x) and `inner`.
void gru_cell(float* h, float* gates, float* inner, const float* b, const float* h_before,
              int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const auto bias = [&](int gate)
                          HWY_ATTR { return b ? io.load(b + gate * units, j) : hn::Zero(F32()); };
    const Vec reset = math::sigmoid(hn::Add(io.load(gates, j), bias(0)));
    const Vec update = math::sigmoid(hn::Add(io.load(gates + units, j), bias(1)));
    const Vec from_h = hn::Add(io.load(inner, j), bias(2));
    const Vec fresh = math::tanh(hn::MulAdd(reset, from_h, io.load(gates + 2 * units, j)));
    const Vec kept = load_or_zero(io, h_before, j);
    io.store(reset, gates, j);
    io.store(update, gates + units, j);
    io.store(fresh, gates + 2 * units, j);
    io.store(from_h, inner, j);
    io.store(hn::MulAdd(update, hn::Sub(kept, fresh), fresh), h, j);
  });
}

void gru_target(float* h, float* gates, float* inner, const float* x, const float* w,
                const float* b, const float* h0, void* workspace, const recurrent_dims& d,
                parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const int64_t units = d.units;
  // Two matrices, because their products are stored in different buffers.
  const PackedMatrix outer{own.take<float>(simd::packed_floats(units, 2 * units)), units,
                           2 * d.units};
  const PackedMatrix fresh{own.take<float>(simd::packed_floats(units, units)), units, d.units};
  pack_matrix(outer, w, true, pool);
  pack_matrix(fresh, w + 2 * units * units, true, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    for (int done = 0; done < d.steps; ++done) {
      const MutableRows gate = step_rows(gates, d, n, done, 3 * d.units);
      if (gates != x) {
        const Rows from = step_rows(x, nullptr, d, n, done, 3 * d.units);
        for (int i = 0; i < count; ++i) std::copy_n(from.row(i), 3 * d.units, gate.row(i));
      }
      const Rows before = step_rows(h, h0, d, n, done - 1, d.units);
      const MutableRows in = step_rows(inner, d, n, done, d.units);
      if (before.first) {
        multiply_packed(gate.first, gate.pitch, before.first, before.pitch, count, outer, true);
        multiply_packed(in.first, in.pitch, before.first, before.pitch, count, fresh, false);
      } else {
        for (int i = 0; i < count; ++i) std::fill_n(in.row(i), d.units, 0.0F);
      }
      const MutableRows now = step_rows(h, d, n, done, d.units);
      for (int i = 0; i < count; ++i) {
        gru_cell(now.row(i), gate.row(i), in.row(i), b, before.row(i), d.units);
      }
    }
  });
}

// Gradients of one sequence at one step; `carried` comes from the next step.
void gru_cell_grad(float* dx, float* du, float* carried, const float* dh, const float* gates,
                   const float* inner, const float* h_before, int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const Vec reset = io.load(gates, j);
    const Vec update = io.load(gates + units, j);
    const Vec fresh = io.load(gates + 2 * units, j);
    const Vec into_h = hn::Add(io.load(carried, j), io.load(dh, j));
    const Vec into_new = hn::Mul(hn::NegMulAdd(into_h, update, into_h), tanh_slope(fresh));
    const Vec dreset = hn::Mul(hn::Mul(into_new, io.load(inner, j)), sigmoid_slope(reset));
    const Vec dupdate = hn::Mul(hn::Mul(into_h, hn::Sub(load_or_zero(io, h_before, j), fresh)),
                                sigmoid_slope(update));
    io.store(dreset, dx, j);
    io.store(dreset, du, j);
    io.store(dupdate, dx + units, j);
    io.store(dupdate, du + units, j);
    io.store(into_new, dx + 2 * units, j);
    io.store(hn::Mul(into_new, reset), du + 2 * units, j);
    io.store(hn::Mul(into_h, update), carried, j);
  });
}

void gru_grad_target(float* dx, float* du, float* dh0, const float* dh, const float* h,
                     const float* gates, const float* inner, const float* w, const float* h0,
                     void* workspace, const recurrent_dims& d, parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(3 * d.units, d.units)),
                             3 * d.units, d.units};
  pack_matrix(weights, w, false, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    const MutableRows carried{dh0 + static_cast<ptrdiff_t>(n) * d.units, d.units};
    std::fill_n(carried.first, count * d.units, 0.0F);
    for (int done = d.steps - 1; done >= 0; --done) {
      const MutableRows to_x = step_rows(dx, d, n, done, 3 * d.units);
      const MutableRows to_u = step_rows(du, d, n, done, 3 * d.units);
      const Rows gate = step_rows(gates, nullptr, d, n, done, 3 * d.units);
      const Rows dh_now = step_rows(dh, nullptr, d, n, done, d.units);
      const Rows in = step_rows(inner, nullptr, d, n, done, d.units);
      const Rows before = step_rows(h, h0, d, n, done - 1, d.units);
      for (int i = 0; i < count; ++i) {
        gru_cell_grad(to_x.row(i), to_u.row(i), carried.row(i), dh_now.row(i), gate.row(i),
                      in.row(i), before.row(i), d.units);
      }
      multiply_packed(carried.first, carried.pitch, to_u.first, to_u.pitch, count, weights, true);
    }
  });
}

}  // namespace thimble::ops::gru_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::gru_impl {
HWY_EXPORT(gru_target);
HWY_EXPORT(gru_grad_target);

int64_t gru_workspace_bytes(const recurrent_dims& d) {
  simd::Workspace counter(nullptr);
  counter.take<float>(simd::packed_floats(d.units, 2 * d.units));
  counter.take<float>(simd::packed_floats(3 * d.units, d.units));
  return counter.bytes();
}

void gru_simd(float* h, float* gates, float* inner, const float* x, const float* w, const float* b,
              const float* h0, void* workspace, const recurrent_dims* d,
              parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(gru_target)(h, gates, inner, x, w, b, h0, workspace, *d, pool);
}

void gru_grad_simd(float* dx, float* du, float* dh0, const float* dh, const float* h,
                   const float* gates, const float* inner, const float* w, const float* h0,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(gru_grad_target)
  (dx, du, dh0, dh, h, gates, inner, w, h0, workspace, *d, pool);
}

}  // namespace thimble::ops::gru_impl
#endif
