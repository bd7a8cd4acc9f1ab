#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/safetensors/checksums.h"
#include "io/safetensors/dtype_names.h"
#include "io/safetensors/safetensors.h"
#include "io/xxh64.h"
#include "ir/sizes.h"

namespace thimble::io {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxHeaderBytes = 100'000'000;  // as the format says
constexpr int kMaxHeaderDepth = 4;               // header, tensor, list: three are used
constexpr size_t kMaxFileBytes = size_t{1} << 36;

json parse_header(const std::string& file, std::string_view text) {
  json header = parse_json(
      {.file = file, .what = "the header", .offset = kLengthBytes, .counted = "the file"}, text,
      kMaxHeaderDepth);
  if (!header.is_object()) throw Error(file, "the header is not a JSON object");
  return header;
}

int64_t whole_number(const std::string& file, const std::string& field, const json& value) {
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    throw Error(file, fmt::format("{}: expected a whole number, got {}", field, printable(value)));
  }
  return value.get<int64_t>();
}

const TypeName& type_of(const std::string& file, const std::string& tensor, const json& value) {
  for (const TypeName& type : kTypeNames) {
    if (value.is_string() && value.get_ref<const std::string&>() == type.name) return type;
  }
  throw Error(file, fmt::format("tensor {}: dtype {} is not supported", tensor, printable(value)));
}

Shape shape_of(const std::string& file, const std::string& tensor, const json& value) {
  if (!value.is_array() || value.size() > size_t{ir::kMostRank}) {
    throw Error(file, fmt::format("tensor {}: shape is not a list of at most {} numbers", tensor,
                                  ir::kMostRank));
  }
  std::vector<int64_t> dims;
  int64_t elements = 1;
  for (const json& dim : value) {
    dims.push_back(whole_number(file, "tensor " + tensor + ": shape", dim));
    if (dims.back() > 0 && elements > std::numeric_limits<int64_t>::max() / 8 / dims.back()) {
      throw Error(file, fmt::format("tensor {}: shape {} is too large", tensor, printable(value)));
    }
    elements *= dims.back();
  }
  return Shape(std::move(dims));
}

// A tensor's entry in the header: its place in the data, without bytes.
struct Entry {
  TensorView view;
  int64_t begin;
  int64_t end;
  std::optional<uint64_t> checksum;
};

Entry entry_of(const std::string& file, const std::string& name, const json& entry,
               int64_t data_bytes) {
  for (const char* const field : {"dtype", "shape", "data_offsets"}) {
    if (!entry.is_object() || !entry.contains(field)) {
      throw Error(file, fmt::format("tensor {}: field {} is missing", name, field));
    }
  }
  const json& offsets = entry["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) {
    throw Error(file, fmt::format("tensor {}: data_offsets are not two numbers", name));
  }
  const int64_t begin = whole_number(file, "tensor " + name + ": data_offsets", offsets[0]);
  const int64_t end = whole_number(file, "tensor " + name + ": data_offsets", offsets[1]);
  if (begin > end || end > data_bytes) {
    throw Error(file, fmt::format("tensor {}: data_offsets {} lie outside the {} bytes of data; "
                                  "the file may be truncated",
                                  name, printable(offsets), data_bytes));
  }
  TensorView view;
  view.name = name;
  const TypeName& type = type_of(file, name, entry["dtype"]);
  view.dtype = type.dtype;
  view.shape = shape_of(file, name, entry["shape"]);
  const int64_t wanted = file_bytes(type.dtype, view.shape);
  if (wanted != end - begin) {
    throw Error(file, fmt::format("tensor {}: {} {} takes {} bytes, data_offsets give it {}", name,
                                  type.name, to_string(view.shape), wanted, end - begin));
  }
  return {std::move(view), begin, end, std::nullopt};
}

// Sorts the tensors by their place. They must cover the data without overlap or hole, as the format
// says.
void sort_and_check_cover(const std::string& file, std::vector<Entry>& entries,
                          int64_t data_bytes) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      throw Error(
          file, fmt::format("tensor {}: there is an overlap or a hole before it", entry.view.name));
    }
    at = entry.end;
  }
  if (at != data_bytes) throw Error(file, "there are bytes after the last tensor");
}

// Reads a file front to back, from memory or disk, and checks before every read what is left.
class Input {
 public:
  Input(std::string_view bytes) : memory_(bytes), size_(bytes.size()) {}  // NOLINT: implicit
  Input(std::ifstream& stream, size_t size) : stream_(&stream), size_(size) {}

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] size_t left() const { return size_ - at_; }
  // count: at most left(). Throws Error if the disk fails or the file was cut.
  void read(const std::string& file, char* to, size_t count) {
    if (stream_ == nullptr) {
      std::copy_n(memory_.data() + at_, count, to);
    } else if (!stream_->read(to, static_cast<std::streamsize>(count))) {
      throw Error(file, fmt::format("cannot be read past byte {} of {}", at_, size_));
    }
    at_ += count;
  }
  void skip(size_t count) {
    if (stream_ != nullptr) stream_->seekg(static_cast<std::streamoff>(count), std::ios::cur);
    at_ += count;
  }

 private:
  std::string_view memory_;
  std::ifstream* stream_ = nullptr;
  size_t size_;
  size_t at_ = 0;
};

// The header, after its length.
std::string header_text(const std::string& file, Input& input) {
  if (input.size() < kLengthBytes) {
    throw Error(file, fmt::format("has {} bytes, a header's length alone takes 8", input.size()));
  }
  char length_bytes[kLengthBytes];
  input.read(file, length_bytes, kLengthBytes);
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint64_t>(static_cast<unsigned char>(length_bytes[i])) << (8 * i);
  }
  if (length > kMaxHeaderBytes || length > input.left()) {
    throw Error(file, fmt::format("the header's length, {} bytes at offset 0, is more than "
                                  "the file holds ({} bytes); it is truncated or not a "
                                  "safetensors file",
                                  length, input.size()));
  }
  std::string text(static_cast<size_t>(length), ' ');
  input.read(file, text.data(), text.size());
  return text;
}

Metadata metadata_of(const std::string& file, const json& header) {
  Metadata metadata;
  const auto found = header.find("__metadata__");
  if (found == header.end()) return metadata;
  if (!found->is_object()) throw Error(file, "__metadata__ is not an object");
  for (const auto& [meta, value] : found->items()) {
    if (!value.is_string()) throw Error(file, "__metadata__." + meta + " is not a text");
    metadata[meta] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

struct Safetensors::Reader {
  // Reads name and metadata of the file, and returns its entries.
  static std::vector<Entry> read_header(Safetensors& file, Input& input) {
    const std::string text = header_text(file.name_, input);
    const json header = parse_header(file.name_, text);
    file.metadata_ = metadata_of(file.name_, header);
    const auto checksums = take_checksums(file.name_, text, file.metadata_);
    const auto data_bytes = static_cast<int64_t>(input.left());
    std::vector<Entry> entries;
    for (const auto& [key, entry] : header.items()) {
      if (key == "__metadata__") continue;
      entries.push_back(entry_of(file.name_, key, entry, data_bytes));
    }
    sort_and_check_cover(file.name_, entries, data_bytes);
    if (checksums && checksums->size() != entries.size()) {
      throw Error(file.name_, fmt::format("has {} tensors and checksums of {}", entries.size(),
                                          checksums->size()));
    }
    for (size_t i = 0; checksums && i < entries.size(); ++i) entries[i].checksum = (*checksums)[i];
    return entries;
  }

  static Safetensors open(const std::string& path, std::unique_ptr<std::ifstream> stream,
                          size_t size) {
    Safetensors file;
    file.name_ = path;
    Input input(*stream, size);
    std::vector<Entry> entries = read_header(file, input);
    const size_t data = size - input.left();
    for (Entry& entry : entries) {
      file.places_.push_back({data + static_cast<size_t>(entry.begin), entry.checksum});
      file.tensors_.push_back(std::move(entry.view));
    }
    file.stream_ = std::move(stream);
    return file;
  }

  static Safetensors read(std::string name, Input input, const Wanted& wanted) {
    Safetensors file;
    file.name_ = std::move(name);
    std::vector<Entry> entries = read_header(file, input);
    size_t held = 0;
    for (const Entry& entry : entries) {
      if (!wanted || wanted(entry.view.name)) held += static_cast<size_t>(entry.end - entry.begin);
    }
    if (held > kMaxFileBytes) {
      throw Error(file.name_, fmt::format("its tensors take {} bytes; at most {} are read", held,
                                          kMaxFileBytes));
    }
    file.bytes_.resize(held);
    char* to = file.bytes_.data();
    for (Entry& entry : entries) {
      const auto count = static_cast<size_t>(entry.end - entry.begin);
      if (wanted && !wanted(entry.view.name)) {
        input.skip(count);
        continue;
      }
      input.read(file.name_, to, count);
      entry.view.bytes = std::as_bytes(std::span(to, count));
      if (entry.checksum) {
        Xxh64 sum;
        sum.update(entry.view.bytes);
        compare_checksum(file.name_, entry.view.name, *entry.checksum, sum.value());
      }
      file.tensors_.push_back(std::move(entry.view));
      to += count;
    }
    return file;
  }
};

Safetensors Safetensors::read(const std::string& path, const Wanted& wanted) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::is_regular_file(status)) {  // a pipe has no size
    return parse(path, read_file(path, kMaxFileBytes));
  }
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) return parse(path, read_file(path, kMaxFileBytes));
  return Reader::read(path, Input(stream, static_cast<size_t>(size)), wanted);
}

Safetensors Safetensors::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return read(path, {});
  const auto size = std::filesystem::file_size(path, error);
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (error || !*stream) return read(path, {});
  return Reader::open(path, std::move(stream), static_cast<size_t>(size));
}

void Safetensors::load(const TensorView& tensor, size_t offset, std::span<std::byte> to) const {
  if (stream_ == nullptr) {
    std::copy_n(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return;
  }
  const size_t at = places_[static_cast<size_t>(&tensor - tensors_.data())].offset + offset;
  stream_->clear();
  stream_->seekg(static_cast<std::streamoff>(at));
  if (!stream_->read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()))) {
    throw Error(name_, fmt::format("tensor {}: cannot be read at byte {}; the file has become "
                                   "shorter, or the disk fails",
                                   tensor.name, at));
  }
}

void Safetensors::scan(const TensorView& tensor, const Visit& visit) const {
  const auto size = static_cast<size_t>(file_bytes(tensor.dtype, tensor.shape));
  alignas(8) std::byte part[1 << 14];
  Xxh64 sum;
  for (size_t at = 0; at < size; at += sizeof part) {
    const std::span<std::byte> bytes(part, std::min(size - at, sizeof part));
    load(tensor, at, bytes);
    sum.update(bytes);
    if (visit) visit(at, bytes);
  }
  if (stream_ == nullptr) return;  // compared when it was read
  const auto& wanted = places_[static_cast<size_t>(&tensor - tensors_.data())].checksum;
  if (wanted) compare_checksum(name_, tensor.name, *wanted, sum.value());
}

Safetensors Safetensors::parse(std::string name, std::string_view bytes) {
  return Reader::read(std::move(name), bytes, {});
}

const TensorView* Safetensors::find(std::string_view name) const {
  for (const TensorView& tensor : tensors_) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

const std::string& Safetensors::meta(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) {
    throw Error(name_, "the entry \"" + key +
                           "\" is missing from its metadata; it is not a "
                           "checkpoint of thimble");
  }
  return found->second;
}

}  // namespace thimble::io
