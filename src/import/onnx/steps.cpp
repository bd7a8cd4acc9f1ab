#include "import/onnx/steps.h"

#include <algorithm>
#include <cmath>

namespace thimble::importer::onnx {
namespace {

constexpr int kMostReaders = 1000;  // that are looked at for one value

// The known number of an input; none: it is left out, not known, or several numbers.
std::optional<Array> number_at(const Node& node, const NodeDef& def, size_t i) {
  if (i >= def.inputs.size() || def.inputs[i].empty()) return std::nullopt;
  const Item* const item = node.find_item(def.inputs[i]);
  if (item == nullptr || !item->known || item->known->elements() != 1) return std::nullopt;
  return item->known;
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
  if (reader->op != "DequantizeLinear") return false;
  const auto theirs = steps_of(node, *reader);
  return theirs && *theirs == steps;
}

}  // namespace

std::shared_ptr<const Steps> steps_of(const Node& node, const NodeDef& def) {
  const std::optional<Array> scale = number_at(node, def, 1);
  const std::optional<Array> zero = number_at(node, def, 2);
  if (!scale || scale->dtype() != DType::f32) return nullptr;
  if (def.inputs.size() > 2 && !def.inputs[2].empty() && !zero) return nullptr;
  const DType dtype = zero ? zero->dtype() : DType::u8;
  Steps made;
  made.scales = scale->floats();
  if (!is_8_bit(dtype) || !std::isfinite(made.scales[0]) || !(made.scales[0] > 0.0F)) {
    return nullptr;
  }
  made.is_unsigned = dtype == DType::u8;
  made.zero_point = (zero ? zero->integers()[0] : 0) - (made.is_unsigned ? 128 : 0);
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

std::shared_ptr<const Steps> steps_of_reader(const Node& node) {
  if (!node.is_main() || !node.gives(0) || !node.item(0).is_value()) return nullptr;
  const NodeDef* const reader = node.importer().only_reader(node.def().outputs[0]);
  if (reader == nullptr || reader->op != "QuantizeLinear" || !reader->domain.empty()) {
    return nullptr;
  }
  return steps_of(node, *reader);
}

bool are_bounds_of_steps(const Node& node, double low, double high) {
  const auto steps = low == 0.0 ? steps_of_reader(node) : nullptr;
  // Larger numbers are rounded to the largest integer with and without the bound.
  return steps && steps->zero_point == -128 &&
         high / static_cast<double>(steps->scales[0]) >= 254.5;
}

Item weight_in_steps(const Node& node, int axis) {
  const Array integers = *Importer::known(node.item(0));
  node.importer().count_dequantized(integers.elements());
  const Shape& shape = integers.shape();
  const std::vector<double> scales = node.numbers_of(1);
  const std::vector<int64_t> zeros = node.has(2) ? node.integers_of(2) : std::vector<int64_t>{0};
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
      Weight{.name = node.def().inputs[0], .made = {}, .full = {}, .order = {}});
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
