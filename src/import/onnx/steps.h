// Tensors of int8 and uint8, as numbers of f32 that are rounded to their steps.
#pragma once

#include <memory>

#include "import/onnx/node.h"

namespace thimble::importer::onnx {

// The steps of int8 or uint8 that a QuantizeLinear or DequantizeLinear says with one scale and one
// zero point; null: it says none such.
[[nodiscard]] std::shared_ptr<const Steps> steps_of(const Node& node, const NodeDef& def);

// Whether result 0 of the node may be a value with steps: all that read it take it as one.
[[nodiscard]] bool may_have_steps(const Node& node, const Steps& steps);

// Whether an operator hands the integers of its input on, and with them the steps.
[[nodiscard]] bool keeps_steps(const NodeDef& def);

// The steps that the only reader of the node's result rounds it to; null: it does not.
[[nodiscard]] std::shared_ptr<const Steps> steps_of_reader(const Node& node);

// Whether that reader's integers lie within these bounds, so that they change nothing.
[[nodiscard]] bool are_bounds_of_steps(const Node& node, double low, double high);

// The integers of input 0, which are known, as a parameter of f32 that is rounded to the steps that
// inputs 1 and 2 say. axis: which several scales count.
[[nodiscard]] Item weight_in_steps(const Node& node, int axis);

}  // namespace thimble::importer::onnx
