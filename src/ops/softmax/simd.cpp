#include <hwy/highway.h>

#include "ops/families/softmax/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::softmax_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Columns [begin, end) of [n, columns].
void softmax_columns(float* y, const float* x, int n, int64_t columns, int64_t begin, int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec largest = io.load(x, c);
    for (int r = 1; r < n; ++r) largest = hn::Max(largest, io.load(x, r * columns + c));
    Vec sum = hn::Zero(f);
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      const Vec value = exp_of_negative(hn::Sub(io.load(x, at), largest));
      io.store(value, y, at);
      sum = hn::Add(sum, value);
    }
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      io.store(hn::Div(io.load(y, at), sum), y, at);
    }
  });
}

void softmax_grad_columns(float* dx, const float* dy, const float* y, int n, int64_t columns,
                          int64_t begin, int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec sum = hn::Zero(f);
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      sum = hn::MulAdd(io.load(dy, at), io.load(y, at), sum);
    }
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      io.store(hn::Mul(io.load(y, at), hn::Sub(io.load(dy, at), sum)), dx, at);
    }
  });
}

void softmax_target(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  const auto columns = [&](int64_t at, int64_t begin, int64_t end) {
    softmax_columns(y + at, x + at, n, d.inner, begin, end);
  };
  over_classes(d, pool, columns, [&](int64_t at) HWY_ATTR {
    const float* from = x + at;
    float* to = y + at;
    const Vec largest = hn::Set(f, row_max(from, n));
    const float sum = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec value = exp_of_negative(hn::Sub(io.load(from, i), largest));
      io.store(value, to, i);
      return value;
    });
    const Vec divisor = hn::Set(f, sum);
    over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Div(io.load(to, i), divisor), to, i);
    });
  });
}

void softmax_grad_target(float* dx, const float* dy, const float* y, const axis_dims& d,
                         parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  const auto columns = [&](int64_t at, int64_t begin, int64_t end) {
    softmax_grad_columns(dx + at, dy + at, y + at, n, d.inner, begin, end);
  };
  over_classes(d, pool, columns, [&](int64_t at) HWY_ATTR {
    const Vec sum = hn::Set(f, row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
                              return hn::Mul(io.load(dy + at, i), io.load(y + at, i));
                            }));
    over_vectors(at, at + n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Mul(io.load(y, i), hn::Sub(io.load(dy, i), sum)), dx, i);
    });
  });
}

}  // namespace thimble::ops::softmax_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

SOFTMAX_SIMD_EXPORT(softmax)
