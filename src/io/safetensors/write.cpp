#include <fmt/format.h>
#include <thimble/error.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

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

namespace {

constexpr const char* kMetadata = "__metadata__";

// Written as it grows: of thousands of tensors a tree of JSON would take more memory than they do.
std::string header_of(std::span<const TensorView> tensors, const Metadata& metadata) {
  const auto quoted = [](const std::string& name) { return nlohmann::json(name).dump(); };
  std::string text;
  if (!metadata.empty()) text += quoted(kMetadata) + ":" + nlohmann::json(metadata).dump();
  std::set<std::string_view> names;
  if (!metadata.empty()) names.insert(kMetadata);
  size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    const TypeName& type = type_of(tensor);
    const auto wanted = static_cast<size_t>(type.size(tensor.shape));
    if (!tensor.fetch && tensor.bytes.size() != wanted) {
      throw Error(tensor.name, fmt::format("has {} bytes, its shape {} says {}",
                                           tensor.bytes.size(), to_string(tensor.shape), wanted));
    }
    if (!names.insert(tensor.name).second) throw Error(tensor.name, "stands twice in one file");
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        text.empty() ? "" : ",", quoted(tensor.name), type.name,
                        fmt::join(tensor.shape.dims(), ","), offset, offset + wanted);
    offset += wanted;
  }
  return "{" + text + "}";
}

}  // namespace

void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  std::string text = header_of(tensors, metadata);
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
