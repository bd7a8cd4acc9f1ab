// Tensors whose bytes lie in a file beside the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thimble::importer::onnx {

// The bytes of a tensor that `entries` (location, offset, length) places in a file below the folder
// of the model (beside.h). bytes: what the tensor has by its shape. Throws Error naming the model.
[[nodiscard]] std::vector<std::byte> read_external(
    const std::string& model, const std::string& tensor,
    const std::map<std::string, std::string>& entries, int64_t bytes);

}  // namespace thimble::importer::onnx
