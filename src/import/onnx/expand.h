// Operators on int8 and uint8 as three others.
#pragma once

#include "import/onnx/model.h"

namespace thimble::importer::onnx {

// Puts DequantizeLinear, the operator on f32 and QuantizeLinear in the place of each operator on
// integers, such as QLinearConv, and of those that onnxruntime's quantizer has in its own domain.
// Scales and zero points must be initializers, else the operator stays as it is.
void expand_quantized(Model& model);
// Whether it is an operator that the function above knows.
[[nodiscard]] bool is_expandable(const NodeDef& node);

}  // namespace thimble::importer::onnx
