// The opposite of parse_model.
#pragma once

#include <string>

#include "import/onnx/model.h"

namespace thimble::importer::onnx {

// The bytes of an ONNX file: operators, initializers, inputs and outputs; a dimension of -1 has its
// name. Attributes of graphs and functions are not written.
[[nodiscard]] std::string serialize(const Model& model);

}  // namespace thimble::importer::onnx
