#include "data/file.h"

#include <thimble/error.h>
#include <thimble/types.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace thimble::data {

std::vector<std::byte> read_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw NotFound(path, "no such file; check the path");
  if (!std::filesystem::is_regular_file(status)) throw Error(path, "is not a regular file");
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error(path, "cannot be opened; check its permissions");
  std::vector<std::byte> bytes(size);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size))) {
    throw Error(path, fmt::format("cannot be read past byte {} of {}", file.gcount(), size));
  }
  return bytes;
}

std::string find_file(const std::string& what, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  std::string tried;
  for (const std::string& path : paths) tried += (tried.empty() ? "" : ", ") + path;
  throw NotFound(what, fmt::format("not found; tried {}", tried));
}

int64_t checked_elements(const std::string& file, std::span<const int64_t> dims, int64_t limit) {
  int64_t elements = 1;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 1) {
      throw Error(file, fmt::format("dimension {} is {}; it must be at least 1", axis, dims[axis]));
    }
    if (dims[axis] > limit / elements) {
      throw Error(file, fmt::format("shape {} holds more than the {} elements possible here; the "
                                    "file is damaged or not of this format",
                                    to_string(Shape({dims.begin(), dims.end()})), limit));
    }
    elements *= dims[axis];
  }
  return elements;
}

std::string shown(std::string_view text) {
  constexpr size_t kLongest = 40;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kLongest)) quoted += c >= ' ' && c <= '~' ? c : '?';
  return quoted + (text.size() > kLongest ? "...\"" : "\"");
}

std::span<const std::byte> ByteReader::take(size_t count, const char* field) {
  if (count > remaining()) {
    throw Error(file_, fmt::format("ends inside {}: {} bytes needed at offset {}, {} left; the "
                                   "file is cut short or not of this format",
                                   field, count, offset_, remaining()));
  }
  const auto part = bytes_.subspan(offset_, count);
  offset_ += count;
  return part;
}

uint64_t ByteReader::big(size_t width, const char* field) {
  uint64_t value = 0;
  for (const std::byte b : take(width, field)) value = value << 8 | static_cast<uint64_t>(b);
  return value;
}

uint32_t ByteReader::little(size_t width, const char* field) {
  uint32_t value = 0;
  unsigned shift = 0;
  for (const std::byte b : take(width, field)) {
    value |= static_cast<uint32_t>(b) << shift;
    shift += 8;
  }
  return value;
}

}  // namespace thimble::data
