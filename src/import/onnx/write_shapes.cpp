// Writing ops that move elements.
#include <thimble/ops.h>

#include <algorithm>
#include <limits>

#include "import/onnx/write.h"
#include "ops/transpose/attrs.h"

namespace thimble::importer::onnx {
namespace {

void reshape_of(Op& op) {
  Order order = op.order_of(0);
  if (!keeps_elements(op.shape(0), order)) order = plain_order(op.rank(0));
  op.give(op.reshape(op.input(0, order), op.result().shape));
}

// No elements move: the axes of the file's tensor have other numbers in thimble's value.
void transpose_of(Op& op) {
  const std::vector<int64_t> axes = transposed_axes(op.attrs<TransposeAttrs>(), op.rank(0));
  const Order order(axes.begin(), axes.end());
  const Order stored = op.order_of(0);
  const std::string x = op.input(0, stored);
  const Order places = inverse(order);
  Order made;
  for (const int axis : stored) made.push_back(places[static_cast<size_t>(axis)]);
  op.give(x, made);
}

void concat_of(Op& op) {
  int lead = 0;
  for (int i = 0; op.has(i); ++i) {
    if (op.shape(i).elements() > op.shape(lead).elements()) lead = i;
  }
  const Order order = op.order_of(lead);
  std::vector<std::string> parts;
  for (int i = 0; op.has(i); ++i) parts.push_back(op.input(i, order));
  const int64_t axis = op.place_of(order, op.attrs<ConcatOptions>().axis);
  op.give(op.add("Concat", parts, {{"axis", attribute(axis)}}), order);
}

void split_of(Op& op) {
  const auto& a = op.attrs<SplitOptions>();
  const Order order = op.order_of(0);
  const int64_t axis = op.place_of(order, a.axis);
  const std::string x = op.input(0, order);
  int64_t first = 0;
  for (size_t i = 0; i < a.sizes.size(); ++i) {
    const std::string part = op.add(
        "Slice", {x, op.integers({first}), op.integers({first + a.sizes[i]}), op.integers({axis})});
    op.give(static_cast<int>(i), part, order);
    first += a.sizes[i];
  }
}

void slice_of(Op& op) {
  const auto& a = op.attrs<SliceOptions>();
  const Order order = op.order_of(0);
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> axes;
  std::vector<int64_t> starts;
  std::vector<int64_t> stops;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < a.starts.size(); ++i) {
    const int64_t axis = a.axes.empty() ? static_cast<int64_t>(i) : a.axes[i];
    const int64_t step = a.steps.empty() ? 1 : a.steps[i];
    axes.push_back(op.place_of(order, axis));
    starts.push_back(std::clamp(a.starts[i], -kFar, kFar));
    stops.push_back(a.stops[i] == kEnd ? (step > 0 ? kFar : -kFar)
                                       : std::clamp(a.stops[i], -kFar, kFar));
    steps.push_back(step);
  }
  op.give(op.add("Slice", {op.input(0, order), op.integers(starts), op.integers(stops),
                           op.integers(axes), op.integers(steps)}),
          order);
}

void flip_of(Op& op) {
  const Order order = op.order_of(0);
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  std::vector<int64_t> axes;
  for (const int64_t axis : op.attrs<FlipOptions>().axes) {
    axes.push_back(op.place_of(order, axis));
  }
  const size_t count = axes.size();
  op.give(op.add("Slice", {op.input(0, order), op.integers(std::vector<int64_t>(count, -1)),
                           op.integers(std::vector<int64_t>(count, -kFar)), op.integers(axes),
                           op.integers(std::vector<int64_t>(count, -1))}),
          order);
}

void pad_of(Op& op) {
  const auto& a = op.attrs<PadOptions>();
  const Order order = op.order_of(0);
  std::vector<int64_t> pads;
  for (const auto* const list : {&a.before, &a.after}) {
    for (const int axis : order) pads.push_back((*list)[static_cast<size_t>(axis)]);
  }
  const char* const mode = a.mode == PadMode::reflect     ? "reflect"
                           : a.mode == PadMode::replicate ? "edge"
                           : a.mode == PadMode::circular  ? "wrap"
                                                          : "constant";
  std::vector<std::string> inputs{op.input(0, order), op.integers(pads)};
  if (a.mode == PadMode::constant) inputs.push_back(op.number(a.value, op.element(0)));
  op.give(op.add("Pad", inputs, {{"mode", attribute(mode)}}), order);
}

void broadcast_of(Op& op) { op.give(op.add("Expand", {op.input(0), op.sizes(op.result().shape)})); }

void index_select_of(Op& op) {
  op.give(op.add("Gather", {op.input(0), op.input(1)},
                 {{"axis", attribute(op.attrs<IndexSelectOptions>().axis)}}));
}

void gather_of(Op& op) {
  op.give(op.add("GatherElements", {op.input(0), op.input(1)},
                 {{"axis", attribute(op.attrs<GatherOptions>().axis)}}));
}

void one_hot_of(Op& op) {
  const int64_t classes = op.attrs<OneHotOptions>().classes;
  // onnxruntime has it for indices of int64.
  const std::string index = op.cast(op.input(0), DType::i64);
  op.give(op.add("OneHot", {index, op.number(static_cast<double>(classes), DType::i64),
                            op.floats({0.0F, 1.0F}, {2})}));
}

void pass_of(Op& op) {
  const Order order = op.order_of(0);
  op.give(op.input(0, order), order);
}

}  // namespace

std::span<const WriteRule> shape_writers() {
  static const WriteRule rules[] = {
      {"reshape", reshape_of},
      {"flatten", reshape_of},
      {"transpose", transpose_of},
      {"concat", concat_of},
      {"split", split_of},
      {"slice", slice_of},
      {"flip", flip_of},
      {"pad", pad_of},
      {"broadcast_to", broadcast_of},
      {"index_select", index_select_of},
      {"gather", gather_of},
      {"one_hot", one_hot_of},
      {"stop_gradient", pass_of},
      {"dropout", pass_of},
  };
  return rules;
}

}  // namespace thimble::importer::onnx
