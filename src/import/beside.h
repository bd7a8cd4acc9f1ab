// Files that a model names and that lie beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::importer {

// The path of a file that the model in `model` names. Throws Error naming the model unless the
// name is relative and plain, and leads to a regular file in the model's folder or below without
// passing a symbolic link.
[[nodiscard]] std::string path_beside(const std::string& model, std::string_view name);

// `length` bytes of that file from `offset` on. Throws Error, too, where it has fewer.
[[nodiscard]] std::vector<std::byte> read_beside(const std::string& model, std::string_view name,
                                                 uint64_t offset, uint64_t length);

}  // namespace thimble::importer
