#include <thimble/ops/flip.h>
#include <thimble/ops/slice.h>

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "ops/families/indexed/gather.h"
#include "ops/families/move/copy.h"
#include "ops/families/move/strided.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP slice
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::slice_impl {
namespace {

struct SliceGradAttrs {
  Shape shape;  // shape of slice's input
  SliceOptions options;
};

void describe(SliceGradAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of slice's input");
  describe(a.options, v);
}

// The selected range of one axis.
struct Range {
  int64_t start = 0;
  int64_t count = 0;
  int64_t step = 1;
};

int64_t clamped(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

// The ranges of all axes; the options must have been checked.
std::vector<Range> ranges_of(const Shape& x, const SliceOptions& options) {
  std::vector<Range> ranges;
  for (const int64_t size : x.dims()) ranges.push_back({0, size, 1});
  for (size_t i = 0; i < options.starts.size(); ++i) {
    const int64_t given = options.axes.empty() ? static_cast<int64_t>(i) : options.axes[i];
    const int axis = static_cast<int>(given < 0 ? given + x.rank() : given);
    Range& range = ranges[static_cast<size_t>(axis)];
    range.start = clamped(options.starts[i], x[axis]);
    range.step = options.steps.empty() ? 1 : options.steps[i];
    const int64_t length = clamped(options.stops[i], x[axis]) - range.start;
    range.count = length <= 0 ? 0 : (length - 1) / range.step + 1;
    if (range.count <= 1) range.step = 1;  // with at most one element the step is irrelevant
  }
  return ranges;
}

void check(const ir::InferContext& c, const Shape& x, const SliceOptions& options) {
  const size_t n = options.starts.size();
  c.require(x.rank() <= kMaxRank, "expected at most 8 dimensions");
  c.require(options.stops.size() == n && (options.steps.empty() || options.steps.size() == n) &&
                (options.axes.empty() || options.axes.size() == n),
            "expected as many stops, axes and steps as starts");
  c.require(static_cast<int>(n) <= x.rank(), "there are more starts than dimensions");
  std::vector<char> cut(static_cast<size_t>(x.rank()), 0);
  for (const int64_t given : options.axes) {
    char& mark = cut[static_cast<size_t>(checked_axis(c, given, x.rank()))];
    c.require(mark == 0, "an axis is named twice");
    mark = 1;
  }
  for (const int64_t step : options.steps)
    c.require(step >= 1, "steps must be at least 1, or below 0 in slice()");
}

Shape sliced(const Shape& x, const SliceOptions& options) {
  std::vector<int64_t> dims;
  for (const Range& range : ranges_of(x, options)) dims.push_back(range.count);
  return Shape(std::move(dims));
}

ir::Params params_of(const Shape& x, const SliceOptions& options, DType dtype) {
  const std::vector<int64_t> strides = row_major_strides(x);
  const std::vector<Range> ranges = ranges_of(x, options);
  std::vector<StridedAxis> axes;
  int64_t offset = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    axes.push_back({ranges[i].count, ranges[i].step * strides[i]});
    offset += ranges[i].start * strides[i];
  }
  return strided_dims_of(axes, offset, x.elements(), dtype);
}

const OpDef& slice_grad_op() {
  static const OpDef def{
      .name = "slice_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of slice: dy where the elements were taken from, 0 elsewhere.",
          .inputs = {{"dy", "the shape of slice's result"}},
          .outputs = {{"dx", "the shape in the attributes"}},
          .attrs = ir::Attrs::schema_of<SliceGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<SliceGradAttrs>();
        check(c, attrs.shape, attrs.options);
        c.require(c.shape(0) == sliced(attrs.shape, attrs.options),
                  "expected dy of the shape of slice's result");
        return {{DType::f32, attrs.shape}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<SliceGradAttrs>();
            return params_of(attrs.shape, attrs.options, DType::f32);
          },
          .ref = ir::kernel_fn<&f32::slice_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::slice_grad_ref>(),
      },
  };
  return def;
}

const OpDef& slice_op() {
  static const OpDef def{
      .name = "slice",
      .signature{
          .doc = "A part of some axes: the elements at start, start + step, ... before stop, with "
                 "starts and stops as in NumPy and steps of at least 1.",
          .example = "auto first_half = slice(x, 1, 0, 8);",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "x with the axes cut"}},
          .attrs = ir::Attrs::schema_of<SliceOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& options = c.attrs.as<SliceOptions>();
        check(c, c.shape(0), options);
        return {moved_type(c, 0, sliced(c.shape(0), options))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const SliceGradAttrs attrs{c.input(0).shape(), c.attrs.as<SliceOptions>()};
        return {c.grad().graph().add1(slice_grad_op(), ir::Attrs::of(attrs), {c.grad()})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return params_of(c.in(0), c.attrs.as<SliceOptions>(), c.outputs[0].dtype);
          },
          .ref = ir::kernel_fn<&f32::slice_ref>(),
          .ref64 = ir::kernel_fn<&f64::slice_ref>(),
          .fast = ir::kernel_fn<&gather<&f32::slice_ref>>(),
          .any_type = true,
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return c.in(0)[0] == c.out()[0] ? ir::Samples::independent : ir::Samples::mixed;
                }},
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

// Turns negative steps into positive ones over reversed axes; returns those axes.
std::vector<int64_t> turned(SliceOptions& options) {
  // Index i of an axis is index -1 - i of the reversed one, counted from the other end.
  const auto other_end = [](int64_t place) { return place == kEnd ? kEnd : -1 - place; };
  std::vector<int64_t> axes;
  const size_t given =
      std::min({options.steps.size(), options.starts.size(), options.stops.size(),
                options.axes.empty() ? options.steps.size() : options.axes.size()});
  for (size_t i = 0; i < given; ++i) {
    int64_t& step = options.steps[i];
    if (step >= 0 || step == std::numeric_limits<int64_t>::min()) continue;
    step = -step;
    const int64_t start = options.starts[i];
    options.starts[i] = start == kEnd ? 0 : other_end(start);
    options.stops[i] = other_end(options.stops[i]);
    axes.push_back(options.axes.empty() ? static_cast<int64_t>(i) : options.axes[i]);
  }
  return axes;
}

// Numbers beyond every axis as attributes may hold them.
void limit(SliceOptions& options) {
  for (auto* const places : {&options.starts, &options.stops}) {
    for (int64_t& place : *places) {
      if (!ir::is_in_range(place)) place = place > 0 ? kEnd : 0;
    }
  }
  for (int64_t& step : options.steps) {
    if (step > 0 && !ir::is_in_range(step)) step = kEnd;
  }
}

}  // namespace
}  // namespace thimble::ops::slice_impl

THIMBLE_OP_FOLDER(slice) {
  static const OpDef* const defs[] = {&slice_op(), &slice_grad_op()};
  return defs;
}

namespace thimble {

void describe(SliceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "the axes cut; none: the first ones");
  v.field("starts", a.starts, "first index of each");
  v.field("stops", a.stops, "one past the last index of each");
  v.field("steps", a.steps, "from one index to the next; none: 1; below 0: backwards");
}

Value slice(Value x, const SliceOptions& options) {
  SliceOptions forward = options;
  const std::vector<int64_t> backwards = ops::slice_impl::turned(forward);
  if (!backwards.empty()) x = flip(x, {.axes = backwards});
  ops::slice_impl::limit(forward);
  return x.graph().add1(ops::slice_impl::slice_op(), ir::Attrs::of(forward), {x});
}

Value slice(Value x, int64_t axis, int64_t start, int64_t stop, int64_t step) {
  return slice(x, {.axes = {axis}, .starts = {start}, .stops = {stop}, .steps = {step}});
}

}  // namespace thimble
