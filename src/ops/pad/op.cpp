#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/flip.h>
#include <thimble/ops/pad.h>
#include <thimble/ops/slice.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/copy.h"
#include "ops/families/move/strided.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP pad
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::pad_impl {
namespace {

// Larger than any dimension.
constexpr int64_t kMostPadding = int64_t{1} << 31;

// The element that stands for a value.
double fill_of(const ir::TensorType& type, double value) {
  if (type.quantization == nullptr) return value;
  const Quantization& q = *type.quantization;
  const int32_t zero = q.zero_points.empty() ? 0 : q.zero_points[0];
  return std::nearbyint(value / static_cast<double>(q.scales[0])) + zero;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<PadOptions>();
  const Shape& x = c.shape(0);
  c.require(x.rank() <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  const auto rank = static_cast<size_t>(x.rank());
  c.require(options.mode == PadMode::constant, "other modes are built by pad() from several ops");
  c.require(options.before.size() == rank && options.after.size() == rank,
            fmt::format("expected {} numbers before and after", rank));
  std::vector<int64_t> dims = x.dims();
  for (size_t i = 0; i < rank; ++i) {
    for (const int64_t more : {options.before[i], options.after[i]}) {
      c.require(more >= 0 && more < kMostPadding,
                "padding must be below 2^31, and at least 0 but in pad()");
      dims[i] += more;
    }
  }
  const ir::TensorType y = moved_type(c, 0, Shape(std::move(dims)));
  require_holds(c, y.dtype, fill_of(y, options.value));
  return {y};
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
  strided_dims d = strided_dims_of(axes, offset, c.out().elements(), c.outputs[0].dtype);
  d.fill = fill_of(*c.inputs[0], options.value);
  return d;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& options = c.attrs.as<PadOptions>();
  SliceOptions back{.starts = options.before};
  // Counted from the end, so that it holds for every batch size.
  for (const int64_t after : options.after) back.stops.push_back(after == 0 ? kEnd : -after);
  return {slice(c.grad(), back)};
}

std::vector<ir::TypedKernels> all_kernels() {
  std::vector<ir::TypedKernels> kernels = INTEGER_KERNELS(pad);
  for (const DType dtype : {DType::i4, DType::boolean}) {
    kernels.push_back({.inputs = {dtype}, .ref = ir::kernel_fn<&strided_scatter_packed>()});
  }
  return kernels;
}

const OpDef& pad_op() {
  static const OpDef def{
      .name = "pad",
      .signature{
          .doc = "x with elements of one value around it, `before` and `after` each axis.",
          .example = "auto y = pad(images, {.before = {0, 1, 1, 0}, .after = {0, 1, 1, 0}});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "x with every axis longer by what is put around it"}},
          .attrs = ir::Attrs::schema_of<PadOptions>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::pad_ref>(),
          .ref64 = ir::kernel_fn<&f64::pad_ref>(),
          .typed = all_kernels(),
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return c.in(0)[0] == c.out()[0] ? ir::Samples::independent : ir::Samples::mixed;
                }},
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::pad_impl

THIMBLE_OP_FOLDER(pad) {
  static const OpDef* const defs[] = {&pad_op()};
  return defs;
}

namespace thimble::ops::pad_impl {
namespace {

// `count` elements of an axis from `start` on.
Value part(Value x, int64_t axis, int64_t start, int64_t count) {
  const int64_t stop = start + count;
  return slice(x, axis, start, start < 0 && stop == 0 ? kEnd : stop);
}

// The padding on one side of an axis.
Value side(Value x, int64_t axis, int64_t count, bool before, PadMode mode) {
  if (mode == PadMode::circular) return part(x, axis, before ? -count : 0, count);
  if (mode == PadMode::reflect) {
    return flip(part(x, axis, before ? 1 : -1 - count, count), {.axes = {axis}});
  }
  const Value edge = part(x, axis, before ? 0 : -1, 1);
  std::vector<int64_t> dims = edge.shape().dims();
  dims[static_cast<size_t>(axis)] = count;
  return broadcast_to(edge, Shape(std::move(dims)));
}

Value repeated(Value x, int64_t axis, int64_t before, int64_t after, PadMode mode) {
  if (before == 0 && after == 0) return x;
  const int64_t size = x.shape()[static_cast<int>(axis)];
  const int64_t most = mode == PadMode::reflect    ? size - 1
                       : mode == PadMode::circular ? size
                       : size > 0                  ? std::numeric_limits<int64_t>::max()
                                                   : 0;
  if (std::max(before, after) > most) {
    throw Error("pad", fmt::format("expected at most {} elements around axis {} of {}, got {}",
                                   most, axis, size, std::max(before, after)));
  }
  std::vector<Value> parts;
  if (before > 0) parts.push_back(side(x, axis, before, true, mode));
  parts.push_back(x);
  if (after > 0) parts.push_back(side(x, axis, after, false, mode));
  return concat(parts, {.axis = axis});
}

// Crops the axes with negative numbers.
Value cut(Value x, const PadOptions& options) {
  SliceOptions inner;
  for (size_t i = 0; i < options.before.size(); ++i) {
    const int64_t before = options.before[i];
    const int64_t after = options.after[i];
    if (before >= 0 && after >= 0) continue;
    inner.axes.push_back(static_cast<int64_t>(i));
    inner.starts.push_back(std::max<int64_t>(0, -std::max(before, -kEnd)));
    inner.stops.push_back(after < 0 ? after : kEnd);
  }
  return inner.axes.empty() ? x : slice(x, inner);
}

}  // namespace
}  // namespace thimble::ops::pad_impl

namespace thimble {

void describe(PadOptions& a, ir::FieldVisitor& v) {
  v.field("before", a.before, "elements before each axis; below 0: cut off");
  v.field("after", a.after, "elements after each axis");
  v.field("value", a.value, "value of added elements in mode constant");
  static constexpr const char* kModes[] = {"constant", "reflect", "replicate", "circular"};
  v.enumeration("mode", a.mode, kModes,
                "added elements: the value, the elements mirrored, the outermost or those of the "
                "other end");
}

Value pad(Value x, const PadOptions& options) {
  const auto rank = static_cast<size_t>(x.shape().rank());
  const bool fits = options.before.size() == rank && options.after.size() == rank;
  // As in PyTorch: cropped elements do not wrap around to the other side, but are still repeated or
  // mirrored.
  const bool cut_first = options.mode == PadMode::circular && fits;
  if (cut_first) x = ops::pad_impl::cut(x, options);
  if (options.mode == PadMode::constant || !fits) {
    PadOptions outer{options.before, options.after, options.value};
    for (auto* const numbers : {&outer.before, &outer.after}) {
      for (int64_t& number : *numbers) number = fits ? std::max<int64_t>(number, 0) : number;
    }
    x = x.graph().add1(ops::pad_impl::pad_op(), ir::Attrs::of(outer), {x});
  } else {
    for (size_t i = 0; i < rank; ++i) {
      x = ops::pad_impl::repeated(x, static_cast<int64_t>(i),
                                  std::max<int64_t>(options.before[i], 0),
                                  std::max<int64_t>(options.after[i], 0), options.mode);
    }
  }
  return cut_first || !fits ? x : ops::pad_impl::cut(x, options);
}

}  // namespace thimble
