#include <thimble/ops/pad.h>
#include <thimble/ops/slice.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/common/axes.h"
#include "ops/common/strided.h"
#include "ops/pad/attrs.h"

#define THIMBLE_REF "ops/pad/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

// More than any dimension may have.
constexpr int64_t kMostPadding = int64_t{1} << 31;

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<PadOptions>();
  const Shape& x = c.shape(0);
  c.require_dtype(0, DType::f32);
  c.require(x.rank() <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  const auto rank = static_cast<size_t>(x.rank());
  c.require(options.before.size() == rank && options.after.size() == rank,
            fmt::format("expected {} numbers before and after", rank));
  std::vector<int64_t> dims = x.dims();
  for (size_t i = 0; i < rank; ++i) {
    for (const int64_t more : {options.before[i], options.after[i]}) {
      c.require(more >= 0 && more < kMostPadding, "padding must be at least 0 and below 2^31");
      dims[i] += more;
    }
  }
  return {{DType::f32, Shape(std::move(dims))}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<PadOptions>();
  const std::vector<int64_t> strides = row_major_strides(c.out());
  std::vector<StridedAxis> axes;
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    axes.push_back({c.in(0)[static_cast<int>(i)], strides[i]});
    offset += options.before[i] * strides[i];
  }
  strided_dims d = strided_dims_of(axes, offset, c.out().elements(), DType::f32);
  d.fill = options.value;
  return d;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& options = c.attrs.as<PadOptions>();
  SliceOptions back{.starts = options.before};
  // Counted from the end, so that it holds for every batch.
  for (const int64_t after : options.after) back.stops.push_back(after == 0 ? kEnd : -after);
  return {slice(c.grad(), back)};
}

const OpDef& pad_op() {
  static const OpDef def{
      .name = "pad",
      .doc = "x with elements of one value around it, `before` and `after` each axis.",
      .example = "auto y = pad(images, {.before = {0, 1, 1, 0}, .after = {0, 1, 1, 0}});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "x with every axis longer by what is put around it"}},
      .attrs = ir::Attrs::schema_of<PadOptions>(),
      .infer = infer,
      .vjp = vjp,
      .params = params,
      .ref = ir::kernel_fn<&f32::pad_ref>(),
      .ref64 = ir::kernel_fn<&f64::pad_ref>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(pad) {
  static const OpDef* const defs[] = {&pad_op()};
  return defs;
}

namespace thimble {
Value pad(Value x, const PadOptions& options) {
  return x.graph().add1(ops::pad_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
