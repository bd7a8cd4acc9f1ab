#include "import/onnx/steps.h"

#include <algorithm>
#include <cmath>

namespace thimble::importer::onnx {
namespace {

constexpr int kMostReaders = 1000;  // that are looked at for one value

// The known numbers of an input; none: it is left out, or not known.
std::optional<Array> numbers_at(const Node& node, const NodeDef& def, size_t i) {
  if (i >= def.inputs.size() || def.inputs[i].empty()) return std::nullopt;
  const Item* const item = node.find_item(def.inputs[i]);
  return item == nullptr ? std::nullopt : Importer::known(*item);
}

bool is_given(const NodeDef& def, size_t i) {
  return i < def.inputs.size() && !def.inputs[i].empty();
}

bool is_8_bit(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

// Whether a node takes the integers of `name` by these steps; left: readers that may still be
// looked at.
bool takes_steps(const Node& node, const NodeDef* reader, const std::string& name,
                 const Steps& steps, int& left);

bool all_take_steps(const Node& node, const std::string& name, const Steps& steps, int& left) {
  const std::vector<const NodeDef*> readers = node.importer().readers_of(name);
  return !readers.empty() &&
         std::all_of(readers.begin(), readers.end(), [&](const NodeDef* reader) {
           return takes_steps(node, reader, name, steps, left);
         });
}

bool takes_steps(const Node& node, const NodeDef* reader, const std::string& name,
                 const Steps& steps, int& left) {
  if (reader == nullptr || !reader->domain.empty() || reader->outputs.empty() || left-- <= 0) {
    return false;
  }
  const bool is_first = reader->inputs[0] == name &&
                        std::count(reader->inputs.begin(), reader->inputs.end(), name) == 1;
  if (!is_first) return false;
  if (keeps_steps(*reader)) return all_take_steps(node, reader->outputs[0], steps, left);
  const bool is_layer = reader->op == "QLinearConv" || reader->op == "QLinearMatMul";
  if (reader->op != "DequantizeLinear" && !is_layer) return false;
  const auto theirs = steps_at(node, *reader, 1);
  return theirs && *theirs == steps && (!is_layer || has_weights_in_steps(node, *reader));
}

}  // namespace

std::shared_ptr<const Steps> steps_at(const Node& node, const NodeDef& def, size_t scale) {
  const std::optional<Array> scales = numbers_at(node, def, scale);
  const std::optional<Array> zeros = numbers_at(node, def, scale + 1);
  if (!scales || scales->elements() != 1 || scales->dtype() != DType::f32) return nullptr;
  if (is_given(def, scale + 1) && (!zeros || zeros->elements() != 1)) return nullptr;
  const DType dtype = zeros ? zeros->dtype() : DType::u8;
  Steps made;
  made.scales = scales->floats();
  if (!is_8_bit(dtype) || !std::isfinite(made.scales[0]) || !(made.scales[0] > 0.0F)) {
    return nullptr;
  }
  made.is_unsigned = dtype == DType::u8;
  made.zero_point = (zeros ? zeros->integers()[0] : 0) - (made.is_unsigned ? 128 : 0);
  return std::make_shared<const Steps>(std::move(made));
}

bool keeps_steps(const NodeDef& def) {
  static const char* const names[] = {"MaxPool", "Reshape",   "Flatten", "Transpose",
                                      "Squeeze", "Unsqueeze", "Identity"};
  return def.domain.empty() && def.outputs.size() == 1 &&
         std::find(std::begin(names), std::end(names), def.op) != std::end(names);
}

bool may_have_steps(const Node& node, const Steps& steps) {
  int left = kMostReaders;
  return node.is_main() && node.gives(0) &&
         all_take_steps(node, node.def().outputs[0], steps, left);
}

bool are_bounds_of_steps(const Node& node, double low, double high) {
  if (!node.is_main() || !node.gives(0) || low != 0.0 || !node.item(0).is_value()) return false;
  const NodeDef* const reader = node.importer().only_reader(node.def().outputs[0]);
  if (reader == nullptr || reader->op != "QuantizeLinear" || !reader->domain.empty()) return false;
  const auto steps = steps_at(node, *reader, 1);
  // Larger numbers are rounded to the largest integer with and without the bound.
  return steps && steps->zero_point == -128 &&
         high / static_cast<double>(steps->scales[0]) >= 254.5;
}

bool has_weights_in_steps(const Node& node, const NodeDef& def) {
  const bool is_conv = def.op == "QLinearConv";
  const Item* const weight = is_given(def, 3) ? node.find_item(def.inputs[3]) : nullptr;
  const std::optional<Array> scale = numbers_at(node, def, 4);
  const std::optional<Array> zero = numbers_at(node, def, 5);
  if (weight == nullptr || !weight->known || !scale || !zero || !is_8_bit(weight->dtype()) ||
      !is_8_bit(zero->dtype()) || scale->dtype() != DType::f32) {
    return false;
  }
  if (weight->shape().rank() != (is_conv ? 4 : 2) || weight->shape().elements() == 0) return false;
  const int64_t channels = weight->shape()[is_conv ? 0 : 1];
  const std::vector<int64_t> zeros = zero->integers();
  const bool one =
      std::all_of(zeros.begin(), zeros.end(), [&](int64_t z) { return z == zeros[0]; });
  if (!one || zeros.empty() || (zero->elements() != 1 && zero->elements() != channels))
    return false;
  if (scale->elements() != 1 && scale->shape() != Shape{channels}) return false;
  for (const float each : scale->floats()) {
    if (!std::isfinite(each) || !(each > 0.0F)) return false;
  }
  if (is_given(def, 8)) {
    const std::optional<Array> bias = numbers_at(node, def, 8);
    if (!bias || bias->dtype() != DType::i32 || bias->shape() != Shape{channels}) return false;
  }
  return steps_at(node, def, 6) != nullptr;
}

Item weight_in_steps(const Node& node, size_t weight, size_t scale, size_t zero, int axis) {
  const Array integers = *Importer::known(node.item(weight));
  const Shape shape = integers.shape();
  const std::vector<double> scales = node.numbers_of(scale);
  const std::vector<int64_t> zeros =
      node.has(zero) ? node.integers_of(zero) : std::vector<int64_t>{0};
  node.require(!scales.empty() && !zeros.empty(), "expected at least one scale");
  const int at = scales.size() == 1 && zeros.size() == 1 ? 0 : axis;
  int64_t inner = 1;
  for (int i = at + 1; i < shape.rank(); ++i) inner *= shape[i];
  const auto count = static_cast<size_t>(shape[at]);
  node.require(scales.size() == 1 || scales.size() == count, "its scales do not fit the axis");
  node.require(zeros.size() == 1 || zeros.size() == count, "its zero points do not fit");
  std::vector<float> numbers;
  const std::vector<int64_t> all = integers.integers();
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t channel = i / static_cast<size_t>(inner) % count;
    const auto zero_point = zeros[zeros.size() == 1 ? 0 : channel];
    numbers.push_back(static_cast<float>(static_cast<double>(all[i] - zero_point) *
                                         scales[scales.size() == 1 ? 0 : channel]));
  }
  Item made;
  made.known = Array(std::move(numbers), shape);
  made.order = plain_order(shape.rank());
  made.weight = std::make_shared<Weight>(
      Weight{.name = node.def().inputs[weight], .made = {}, .full = {}, .order = {}});
  const bool one =
      std::all_of(zeros.begin(), zeros.end(), [&](int64_t z) { return z == zeros[0]; });
  const bool positive = std::all_of(scales.begin(), scales.end(), [](double s) {
    return std::isfinite(s) && static_cast<float>(s) > 0.0F;
  });
  if (is_8_bit(integers.dtype()) && one && positive) {
    Steps steps;
    steps.scales.assign(scales.begin(), scales.end());
    steps.is_unsigned = integers.dtype() == DType::u8;
    steps.zero_point = zeros[0] - (steps.is_unsigned ? 128 : 0);
    steps.axis = at;
    steps.shape = shape;
    made.steps = std::make_shared<const Steps>(std::move(steps));
  }
  return made;
}

}  // namespace thimble::importer::onnx
