#include <hwy/highway.h>

#include <cmath>

#include "ops/families/softmax/softmax-inl.h"
#include "simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::log_softmax_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Columns [begin, end) of a matrix [n, columns].
void log_softmax_columns(float* y, const float* x, int n, int64_t columns, int64_t begin,
                         int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec largest = io.load(x, c);
    for (int r = 1; r < n; ++r) largest = hn::Max(largest, io.load(x, r * columns + c));
    Vec sum = hn::Zero(f);
    for (int r = 0; r < n; ++r) {
      sum = hn::Add(sum, exp_of_negative(hn::Sub(io.load(x, r * columns + c), largest)));
    }
    const Vec rest = simd::HWY_NAMESPACE::log(sum);
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      io.store(hn::Sub(hn::Sub(io.load(x, at), largest), rest), y, at);
    }
  });
}

void log_softmax_grad_columns(float* dx, const float* dy, const float* y, int n, int64_t columns,
                              int64_t begin, int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec sum = hn::Zero(f);
    for (int r = 0; r < n; ++r) sum = hn::Add(sum, io.load(dy, r * columns + c));
    for (int r = 0; r < n; ++r) {
      const int64_t at = r * columns + c;
      io.store(hn::NegMulAdd(exp_of_negative(io.load(y, at)), sum, io.load(dy, at)), dx, at);
    }
  });
}

void log_softmax_target(float* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  const auto columns = [&](int64_t at, int64_t begin, int64_t end) {
    log_softmax_columns(y + at, x + at, n, d.inner, begin, end);
  };
  over_classes(d, pool, columns, [&](int64_t at) HWY_ATTR {
    const float* from = x + at;
    float* to = y + at;
    const float largest = row_max(from, n);
    const Vec shift = hn::Set(f, largest);
    const float sum = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      return exp_of_negative(hn::Sub(io.load(from, i), shift));
    });
    const Vec rest = hn::Set(f, std::log(sum));
    over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Sub(hn::Sub(io.load(from, i), shift), rest), to, i);
    });
  });
}

void log_softmax_grad_target(float* dx, const float* dy, const float* y, const axis_dims& d,
                             parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.size;
  const auto columns = [&](int64_t at, int64_t begin, int64_t end) {
    log_softmax_grad_columns(dx + at, dy + at, y + at, n, d.inner, begin, end);
  };
  over_classes(d, pool, columns, [&](int64_t at) HWY_ATTR {
    const Vec sum =
        hn::Set(f, row_sum(n, [&](auto io, int64_t i) HWY_ATTR { return io.load(dy + at, i); }));
    over_vectors(at, at + n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec share = exp_of_negative(io.load(y, i));
      io.store(hn::NegMulAdd(share, sum, io.load(dy, i)), dx, i);
    });
  });
}

}  // namespace thimble::ops::log_softmax_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

SOFTMAX_SIMD_EXPORT(log_softmax)
