#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/safetensors/checksums.h"
#include "io/safetensors/dtype_names.h"
#include "io/safetensors/safetensors.h"
#include "io/xxh64.h"
#include "ir/names.h"
#include "ir/sizes.h"

namespace thimble::io {
namespace {

const TypeName& type_of(const TensorView& tensor) {
  for (const TypeName& type : kTypeNames) {
    if (type.dtype == tensor.dtype) return type;
  }
  throw Error(tensor.name,
              fmt::format("safetensors cannot hold {}; write it as {}", to_string(tensor.dtype),
                          to_string(file_dtype(tensor.dtype))));
}

}  // namespace

namespace {

constexpr const char* kMetadata = "__metadata__";

// The names of tensors, entries and their texts are UTF-8.
std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error("safetensors", fmt::format("the name or text {} is not UTF-8", printable(text)));
  }
}

// The file up to the first tensor: the header after its length. Written directly, because for
// thousands of tensors a tree of JSON would take more memory than they do.
std::string beginning_of(std::span<const TensorView> tensors, Metadata metadata,
                         const TensorChecksums& sums) {
  add_checksums(metadata, sums);
  std::string text = "{" + quoted(kMetadata) + ":{";
  for (const auto& [key, value] : metadata) {
    text += (text.back() == '{' ? "" : ",") + quoted(key) + ":";
    text += quoted(value);
  }
  text += "}";
  std::set<std::string_view> names;
  size_t offset = 0;
  for (const TensorView& tensor : tensors) {
    ir::check_name("safetensors", tensor.name);
    if (tensor.shape.rank() > ir::kMostRank) {
      throw Error(tensor.name, fmt::format("has {} dimensions; at most {} are written",
                                           tensor.shape.rank(), ir::kMostRank));
    }
    const TypeName& type = type_of(tensor);
    const auto wanted = static_cast<size_t>(file_bytes(tensor.dtype, tensor.shape));
    if (!tensor.fetch && tensor.bytes.size() != wanted) {
      throw Error(tensor.name, fmt::format("has {} bytes, its shape {} says {}",
                                           tensor.bytes.size(), to_string(tensor.shape), wanted));
    }
    if (!names.insert(tensor.name).second) throw Error(tensor.name, "stands twice in one file");
    text += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                        quoted(tensor.name), type.name, fmt::join(tensor.shape.dims(), ","), offset,
                        offset + wanted);
    offset += wanted;
  }
  text += "}";
  while (text.size() % 8 != 0) text += ' ';
  seal_header(text);
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) {
    length += static_cast<char>(static_cast<uint64_t>(text.size()) >> shift & 0xFF);
  }
  return length + text;
}

uint64_t checksum(std::span<const std::byte> bytes) {
  Xxh64 sum;
  sum.update(bytes);
  return sum.value();
}

std::span<const std::byte> bytes_of(const TensorView& tensor) {
  return tensor.fetch ? tensor.fetch() : tensor.bytes;
}

}  // namespace

// The sums of what is written are known last: then the beginning is written again, of equal size.
// In a pipe nothing can be, and the sums are computed beforehand.
void write_safetensors(const std::string& path, std::span<const TensorView> tensors,
                       const Metadata& metadata) {
  TensorChecksums sums(tensors.size(), 0);
  AtomicFile file(path);
  if (!file.can_rewrite()) {
    std::transform(tensors.begin(), tensors.end(), sums.begin(),
                   [](const TensorView& tensor) { return checksum(bytes_of(tensor)); });
  }
  file.write(beginning_of(tensors, metadata, sums));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::span<const std::byte> bytes = bytes_of(tensors[i]);
    sums[i] = checksum(bytes);
    file.write(bytes);
  }
  if (file.can_rewrite()) file.rewrite_beginning(beginning_of(tensors, metadata, sums));
  file.commit();
}

}  // namespace thimble::io
