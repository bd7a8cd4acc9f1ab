#include <hwy/highway.h>

#include "ops/families/recurrent/recurrent-inl.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "parallel/thread_pool.h"
#include "simd/packed.h"
#include "simd/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::rnn_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

void rnn_cell(float* h, bool relu, int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const Vec sum = io.load(h, j);
    const Vec cut = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(F32())), sum);
    io.store(relu ? cut : math::tanh(sum), h, j);
  });
}

void rnn_target(float* h, const float* x, const float* w, const float* h0, void* workspace,
                const recurrent_dims& d, parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(d.units, d.units)), d.units,
                             d.units};
  pack_matrix(weights, w, true, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    for (int done = 0; done < d.steps; ++done) {
      const MutableRows now = step_rows(h, d, n, done, d.units);
      if (h != x) {
        const Rows from = step_rows(x, nullptr, d, n, done, d.units);
        for (int i = 0; i < count; ++i) std::copy_n(from.row(i), d.units, now.row(i));
      }
      const Rows before = step_rows(h, h0, d, n, done - 1, d.units);
      if (before.first) {
        multiply_packed(now.first, now.pitch, before.first, before.pitch, count, weights, true);
      }
      for (int i = 0; i < count; ++i) rnn_cell(now.row(i), d.relu != 0, d.units);
    }
  });
}

void rnn_cell_grad(float* dx, const float* carried, const float* dh, const float* h, bool relu,
                   int units) {
  over_vectors(0, units, [=](const auto& io, int64_t j) HWY_ATTR {
    const Vec result = io.load(h, j);
    const Vec into = hn::Add(io.load(dh, j), io.load(carried, j));
    const Vec passed = hn::IfThenElseZero(hn::Gt(result, hn::Zero(F32())), into);
    io.store(relu ? passed : hn::Mul(into, tanh_slope(result)), dx, j);
  });
}

void rnn_grad_target(float* dx, float* dh0, const float* dh, const float* h, const float* w,
                     void* workspace, const recurrent_dims& d, parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const PackedMatrix weights{own.take<float>(simd::packed_floats(d.units, d.units)), d.units,
                             d.units};
  pack_matrix(weights, w, false, pool);
  over_sequences(d, pool, [&](int n, int count, int /*worker*/) HWY_ATTR {
    const MutableRows carried{dh0 + static_cast<ptrdiff_t>(n) * d.units, d.units};
    std::fill_n(carried.first, count * d.units, 0.0F);
    for (int done = d.steps - 1; done >= 0; --done) {
      const MutableRows out = step_rows(dx, d, n, done, d.units);
      const Rows dh_now = step_rows(dh, nullptr, d, n, done, d.units);
      const Rows h_now = step_rows(h, nullptr, d, n, done, d.units);
      for (int i = 0; i < count; ++i) {
        rnn_cell_grad(out.row(i), carried.row(i), dh_now.row(i), h_now.row(i), d.relu != 0,
                      d.units);
      }
      multiply_packed(carried.first, carried.pitch, out.first, out.pitch, count, weights, false);
    }
  });
}

}  // namespace thimble::ops::rnn_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::rnn_impl {
HWY_EXPORT(rnn_target);
HWY_EXPORT(rnn_grad_target);

int64_t rnn_workspace_bytes(const recurrent_dims& d) {
  simd::Workspace counter(nullptr);
  counter.take<float>(simd::packed_floats(d.units, d.units));
  return counter.bytes();
}

void rnn_simd(float* h, const float* x, const float* w, const float* h0, void* workspace,
              const recurrent_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rnn_target)(h, x, w, h0, workspace, *d, pool);
}

void rnn_grad_simd(float* dx, float* dh0, const float* dh, const float* h, const float* w,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(rnn_grad_target)(dx, dh0, dh, h, w, workspace, *d, pool);
}

}  // namespace thimble::ops::rnn_impl
#endif
