#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "io/atomic_file.h"
#include "io/safetensors/dtype_names.h"
#include "io/safetensors/safetensors.h"

namespace thimble::io {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr size_t kMaxHeaderBytes = 100'000'000;  // as the format says
constexpr int kMaxDepth = 4;                     // header, tensor, list: three are used
constexpr size_t kMaxFileBytes = size_t{1} << 36;

// A piece of the header for a message.
std::string printable(const json& value) {
  constexpr size_t kLongest = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// Parses the header; refuses deep nesting and names that stand twice, which JSON itself allows.
json parse_header(const std::string& file, std::string_view text) {
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw Error(file, "the header is nested too deeply");
    if (event == json::parse_event_t::object_start) names.emplace_back();
    if (event == json::parse_event_t::object_end) names.pop_back();
    if (event == json::parse_event_t::key &&
        !names.back().insert(parsed.get<std::string>()).second) {
      throw Error(file, "the name " + parsed.get<std::string>() + " stands twice in the header");
    }
    return true;
  };
  json header;
  try {
    header = json::parse(text, watch);
  } catch (const json::parse_error& error) {
    throw Error(file, fmt::format("the header is not JSON: it breaks off or goes wrong at byte {} "
                                  "of the file",
                                  kLengthBytes + error.byte));
  } catch (const json::exception&) {  // numbers too large to hold
    throw Error(file, "the header is not JSON: it has a number that is out of range");
  }
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

DType dtype_of(const std::string& file, const std::string& tensor, const json& value) {
  for (const auto& [dtype, name] : kDTypeNames) {
    if (value.is_string() && value.get_ref<const std::string&>() == name) return dtype;
  }
  throw Error(file, fmt::format("tensor {}: dtype {} is not supported", tensor, printable(value)));
}

Shape shape_of(const std::string& file, const std::string& tensor, const json& value) {
  constexpr size_t kMaxRank = 8;
  if (!value.is_array() || value.size() > kMaxRank) {
    throw Error(file, fmt::format("tensor {}: shape is not a list of at most {} numbers", tensor,
                                  kMaxRank));
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

TensorView tensor_of(const std::string& file, const std::string& name, const json& entry,
                     std::span<const std::byte> data) {
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
  if (begin > end || static_cast<uint64_t>(end) > data.size()) {
    throw Error(file, fmt::format("tensor {}: data_offsets {} lie outside the {} bytes of data; "
                                  "the file may be truncated",
                                  name, printable(offsets), data.size()));
  }
  TensorView view;
  view.name = name;
  view.dtype = dtype_of(file, name, entry["dtype"]);
  view.shape = shape_of(file, name, entry["shape"]);
  view.bytes = data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  if (size_bytes(view.dtype, view.shape) != end - begin) {
    throw Error(file, fmt::format("tensor {}: {}{} takes {} bytes, data_offsets give it {}", name,
                                  to_string(view.dtype), to_string(view.shape),
                                  size_bytes(view.dtype, view.shape), end - begin));
  }
  return view;
}

// The tensors must cover the data without overlap or hole, as the format says.
void check_cover(const std::string& file, std::vector<TensorView> tensors,
                 std::span<const std::byte> data) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
    return std::pair(a.bytes.data(), a.bytes.size()) < std::pair(b.bytes.data(), b.bytes.size());
  });
  const std::byte* at = data.data();
  for (const TensorView& tensor : tensors) {
    if (tensor.bytes.data() != at) {
      throw Error(file,
                  fmt::format("tensor {}: there is an overlap or a hole before it", tensor.name));
    }
    at += tensor.bytes.size();
  }
  if (at != data.data() + data.size()) throw Error(file, "there are bytes after the last tensor");
}

}  // namespace

Safetensors Safetensors::read(const std::string& path) {
  return parse(path, read_file(path, kMaxFileBytes));
}

Safetensors Safetensors::parse(std::string name, std::string bytes) {
  Safetensors file;
  file.name_ = std::move(name);
  file.bytes_.assign(bytes.begin(), bytes.end());
  bytes = {};
  const std::vector<char>& all = file.bytes_;
  if (all.size() < kLengthBytes) {
    throw Error(file.name_,
                fmt::format("has {} bytes, a header's length alone takes 8", all.size()));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint64_t>(static_cast<unsigned char>(all[i])) << (8 * i);
  }
  if (length > kMaxHeaderBytes || length > all.size() - kLengthBytes) {
    throw Error(file.name_, fmt::format("the header's length, {} bytes at offset 0, is more than "
                                        "the file holds ({} bytes); it is truncated or not a "
                                        "safetensors file",
                                        length, all.size()));
  }
  const std::string_view text(all.data() + kLengthBytes, static_cast<size_t>(length));
  const json header = parse_header(file.name_, text);
  const std::span<const std::byte> data =
      std::as_bytes(std::span(all)).subspan(kLengthBytes + static_cast<size_t>(length));
  for (const auto& [key, entry] : header.items()) {
    if (key != "__metadata__") {
      file.tensors_.push_back(tensor_of(file.name_, key, entry, data));
      continue;
    }
    if (!entry.is_object()) throw Error(file.name_, "__metadata__ is not an object");
    for (const auto& [meta, value] : entry.items()) {
      if (!value.is_string()) throw Error(file.name_, "__metadata__." + meta + " is not a text");
      file.metadata_[meta] = value.get<std::string>();
    }
  }
  check_cover(file.name_, file.tensors_, data);
  return file;
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
