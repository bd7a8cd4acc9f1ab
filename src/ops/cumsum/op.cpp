#include <thimble/ops/cumsum.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/cumsum/dims.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/scales.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP cumsum
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::cumsum_impl {
namespace {

// Computes contiguous lines, kLines of them at a time to hide the latency of an addition.
template <int kLines>
void side_by_side(float* y, const float* x, const cumsum_dims& d) {
  const int64_t n = d.along.size;
  double sums[kLines] = {};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = d.reverse != 0 ? n - 1 - i : i;
    for (int line = 0; line < kLines; ++line) {
      sums[line] += static_cast<double>(x[line * n + at]);
      y[line * n + at] = static_cast<float>(sums[line]);
    }
  }
}

// Divides the lines among threads, up to 64 adjacent ones at a time.
void fast(float* y, const float* x, const cumsum_dims* d, parallel::ThreadPool& pool) {
  const int64_t inner = d->along.inner;
  const int64_t step = d->along.size * inner;
  if (inner == 1) {
    // More lines would not fit one set of the first-level cache if they lie at a distance of 4 KB.
    constexpr int kLines = 4;
    const int64_t whole = d->along.outer / kLines;
    for_each_row(pool, whole, kLines * step, [&](int64_t i) {
      side_by_side<kLines>(y + i * kLines * step, x + i * kLines * step, *d);
    });
    for_each_row(pool, d->along.outer - whole * kLines, step, [&](int64_t i) {
      const int64_t at = (whole * kLines + i) * step;
      side_by_side<1>(y + at, x + at, *d);
    });
    return;
  }
  const int64_t parts = simd::divide_up(inner, 64);
  for_each_row(pool, d->along.outer * parts, d->along.size * std::min<int64_t>(inner, 64),
               [&](int64_t i) {
                 const int64_t column = i % parts * 64;
                 const int64_t at = i / parts * step + column;
                 f32::cumsum_lines(y + at, x + at,
                                   static_cast<int>(std::min<int64_t>(64, inner - column)), d);
               });
}

const OpDef& cumsum_op() {
  static const OpDef def{
      .name = "cumsum",
      .signature{
          .doc = "Running sums along an axis: y[i] = x[0] + ... + x[i], or x[i] + ... to the last "
                 "in reverse.",
          .example = "auto y = cumsum(x, {.axis = 1});",
          .inputs = {{"x", "any shape of at least one dimension"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<CumsumOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        checked_axis(c, c.attrs.as<CumsumOptions>().axis, c.shape(0).rank());
        require_plain_numbers(c);
        return {{c.input(0).dtype, c.shape(0)}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        CumsumOptions options = c.attrs.as<CumsumOptions>();
        options.reverse = !options.reverse;
        return {cumsum(c.grad(), options)};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& options = c.attrs.as<CumsumOptions>();
            return cumsum_dims{axis_dims_of(c.in(0), options.axis), options.reverse ? 1 : 0};
          },
          .ref = ir::kernel_fn<&f32::cumsum_ref>(),
          .ref64 = ir::kernel_fn<&f64::cumsum_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = SUM_KERNELS(cumsum),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<CumsumOptions>().axis);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::cumsum_impl

THIMBLE_OP_FOLDER(cumsum) {
  static const OpDef* const defs[] = {&cumsum_op()};
  return defs;
}

namespace thimble {

void describe(CumsumOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which to add up; negative counts from the last");
  v.field("reverse", a.reverse, "from the end to the start");
}
Value cumsum(Value x, const CumsumOptions& options) {
  return x.graph().add1(ops::cumsum_impl::cumsum_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
