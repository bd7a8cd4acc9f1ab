// Tensors of ONNX files as arrays.
#pragma once

#include <string>

#include "import/onnx/model.h"

namespace thimble::onnx_file {
class TensorProto;
}

namespace thimble::importer::onnx {

// Every length is checked against the dimensions. The message loses its bytes. model: the file that
// errors name; may_read: whether external data may be read. Throws Error.
[[nodiscard]] Tensor tensor_of(const std::string& model, onnx_file::TensorProto& message,
                               bool may_read);

}  // namespace thimble::importer::onnx
