#include <fmt/format.h>
#include <thimble/error.h>

#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/safetensors/dtype_names.h"
#include "io/safetensors/safetensors.h"

namespace thimble::io {
namespace {

const TypeName& type_of(const TensorView& tensor) {
  for (const TypeName& type : kTypeNames) {
    if (type.is_of(tensor)) return type;
  }
  throw Error(tensor.name, fmt::format("safetensors cannot hold {}", to_string(tensor.dtype)));
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  nlohmann::ordered_json header;
  if (!metadata.empty()) header["__metadata__"] = metadata;
  size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    const TypeName& type = type_of(tensor);
    const auto wanted = static_cast<size_t>(type.size(tensor.shape));
    if (!tensor.fetch && tensor.bytes.size() != wanted) {
      throw Error(tensor.name, fmt::format("has {} bytes, its shape {} says {}",
                                           tensor.bytes.size(), to_string(tensor.shape), wanted));
    }
    if (header.contains(tensor.name)) throw Error(tensor.name, "stands twice in one file");
    const size_t end = offset + wanted;
    header[tensor.name] = {
        {"dtype", type.name}, {"shape", tensor.shape.dims()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.is_null() ? "{}" : header.dump();
  while (text.size() % 8 != 0) text += ' ';
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) {
    length += static_cast<char>(static_cast<uint64_t>(text.size()) >> shift & 0xFF);
  }
  AtomicFile file(path);
  file.write(length);
  file.write(text);
  for (const TensorView& tensor : tensors) {
    file.write(tensor.fetch ? tensor.fetch() : tensor.bytes);
  }
  file.commit();
}

}  // namespace thimble::io
