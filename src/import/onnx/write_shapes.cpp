// Writing ops that move elements.
#include <thimble/ops.h>

#include <algorithm>
#include <limits>
#include <numeric>

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

void scatter_of(Op& op) {
  const auto& a = op.attrs<ScatterOptions>();
  const std::string source =
      op.has(2) ? op.input(2)
                : op.add("Expand", {op.number(a.value, op.element(0)), op.sizes(op.shape(1))});
  op.give(
      op.add("ScatterElements", {op.input(0), op.input(1), source}, {{"axis", attribute(a.axis)}}));
}
void scatter_add_of(Op& op) {
  op.give(op.add(
      "ScatterElements", {op.input(0), op.input(1), op.input(2)},
      {{"axis", attribute(op.attrs<ScatterAddOptions>().axis)}, {"reduction", attribute("add")}}));
}

void topk_of(Op& op) {
  const auto& a = op.attrs<TopkOptions>();
  const Order order = op.order_of(0);
  const std::string values = op.add(
      "TopK", {op.input(0, order), op.integers({a.k})},
      {{"axis", attribute(op.place_of(order, a.axis))}, {"largest", attribute(int64_t{a.largest})}},
      2);
  op.give(0, values, order);
  if (op.is_read(1)) op.give(1, op.cast(op.file().result_of(values, 1), DType::i32), order);
}

void triangle_of(Op& op) {
  const int64_t is_upper = op.name() == "triu" ? 1 : 0;
  const auto diagonal = static_cast<double>(op.attrs<TriangleOptions>().diagonal);
  op.give(op.add("Trilu", {op.input(0), op.number(diagonal, DType::i64)},
                 {{"upper", attribute(is_upper)}}));
}

// The last elements of an axis come before the first ones.
void roll_of(Op& op) {
  const auto& a = op.attrs<RollOptions>();
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max();
  const bool is_flat = a.axes.empty();
  const Order order = is_flat ? plain_order(op.rank(0)) : op.order_of(0);
  std::string y = op.input(0, order);
  if (is_flat) y = op.reshape(y, Shape{op.shape(0).elements()});
  for (size_t i = 0; i < a.shifts.size(); ++i) {
    const int64_t axis = is_flat ? 0 : a.axes[i];
    const int64_t size = is_flat ? op.shape(0).elements() : op.shape(0)[static_cast<int>(axis)];
    int64_t shift = a.shifts[i];
    if (!is_of_batch(size) && size != 0) shift %= size;
    if (shift == 0 || size == 0) continue;
    if (is_of_batch(size)) op.fail("such files roll axes of known sizes alone");
    const int64_t place = is_flat ? 0 : op.place_of(order, axis);
    const auto part = [&](int64_t start, int64_t stop) {
      return op.add("Slice", {y, op.integers({start}), op.integers({stop}), op.integers({place})});
    };
    y = op.add("Concat", {part(-shift, kFar), part(0, -shift)}, {{"axis", attribute(place)}});
  }
  if (is_flat) y = op.reshape(y, op.shape(0));
  op.give(y, order);
}

// Which steps of sequences [N, T, ...] count: [N, T] under a shape that broadcasts, of bool. ended:
// the last one of those alone.
std::string counted_steps(Op& op, bool ended) {
  std::vector<int64_t> all(static_cast<size_t>(op.shape(0)[1]));
  std::iota(all.begin(), all.end(), int64_t{ended ? 1 : 0});
  std::vector<int64_t> column(static_cast<size_t>(op.rank(0)), 1);
  column[0] = kBatch;
  const std::string lengths = op.reshape(op.cast(op.input(1), DType::i64), Shape(column));
  column[0] = 1;
  column[1] = op.shape(0)[1];
  const std::string steps = op.reshape(op.integers(all), Shape(column));
  return op.add(ended ? "Equal" : "Less", {steps, lengths});
}
void mask_sequence_of(Op& op) {
  op.give(op.add("Where", {counted_steps(op, false), op.input(0), op.number(0.0)}));
}
void last_of_sequence_of(Op& op) {
  const std::string last = op.add("Where", {counted_steps(op, true), op.input(0), op.number(0.0)});
  op.give(op.add("ReduceSum", {last, op.integers({1})}, {{"keepdims", attribute(int64_t{0})}}));
}
void reverse_sequence_of(Op& op) {
  op.give(op.add("ReverseSequence", {op.input(0), op.cast(op.input(1), DType::i64)},
                 {{"batch_axis", attribute(int64_t{0})}, {"time_axis", attribute(int64_t{1})}}));
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
      {"scatter", scatter_of},
      {"scatter_add", scatter_add_of},
      {"topk", topk_of},
      {"tril", triangle_of},
      {"triu", triangle_of},
      {"roll", roll_of},
      {"mask_sequence", mask_sequence_of},
      {"last_of_sequence", last_of_sequence_of},
      {"reverse_sequence", reverse_sequence_of},
      {"stop_gradient", pass_of},
      {"dropout", pass_of},
  };
  return rules;
}

}  // namespace thimble::importer::onnx
