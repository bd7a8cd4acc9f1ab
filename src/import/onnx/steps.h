// Tensors of int8 and uint8, as numbers of f32 that are rounded to their steps.
#pragma once

#include <memory>

#include "import/onnx/node.h"

namespace thimble::importer::onnx {

// The steps of int8 or uint8 that inputs `scale` and scale + 1 of a node say with one number each;
// null: they say no such.
[[nodiscard]] std::shared_ptr<const Steps> steps_at(const Node& node, const NodeDef& def,
                                                    size_t scale);

// Whether result 0 of the node may be a value with steps: all that read it take it as one.
[[nodiscard]] bool may_have_steps(const Node& node, const Steps& steps);

// Whether an operator hands the integers of its input on, and with them the steps.
[[nodiscard]] bool keeps_steps(const NodeDef& def);

// Whether the only reader of the node's result rounds it to integers within these bounds.
[[nodiscard]] bool are_bounds_of_steps(const Node& node, double low, double high);

// Whether the weights of a QLinearConv or QLinearMatMul are known, and have steps.
[[nodiscard]] bool has_weights_in_steps(const Node& node, const NodeDef& def);

// An initializer of integers as a parameter of f32, rounded to their steps. axis: which several
// scales count, of an initializer of `scale` and `zero` inputs.
[[nodiscard]] Item weight_in_steps(const Node& node, size_t weight, size_t scale, size_t zero,
                                   int axis);

}  // namespace thimble::importer::onnx
