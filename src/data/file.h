// Reading files from outside: every length and field is checked before use.
#pragma once

#include <thimble/error.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/storage.h"

namespace thimble::data {

// Thrown if data are missing. Broken data are an Error.
class NotFound : public Error {
 public:
  using Error::Error;
};

// The whole of a regular file. Throws NotFound if it is missing, Error if it is not a regular file
// or unreadable.
[[nodiscard]] std::vector<std::byte> read_file(const std::string& path);

// The first of the paths that exists. Throws NotFound that names what was looked for and every path
// tried.
[[nodiscard]] std::string find_file(const std::string& what, const std::vector<std::string>& paths);

[[nodiscard]] bool is_gzip(const Storage& file);

// The first `limit` bytes, or fewer, of what a gzip file holds, without reading on.
[[nodiscard]] std::vector<std::byte> gunzip_head(const std::string& file, const Storage& packed,
                                                 size_t limit);

// Everything a gzip file holds, checksums verified, kept as Spill keeps it: never more than `limit`
// bytes. Throws Error if the file is damaged, cut short, followed by something else, or unpacks to
// more than limit.
[[nodiscard]] StoragePtr gunzip(const std::string& file, const Storage& packed, size_t limit);

// The same of a file's bytes.
[[nodiscard]] inline std::vector<std::byte> gunzip_head(const std::string& file,
                                                        std::vector<std::byte> packed,
                                                        size_t limit) {
  return gunzip_head(file, *in_memory(std::move(packed)), limit);
}
[[nodiscard]] inline StoragePtr gunzip(const std::string& file, std::vector<std::byte> packed,
                                       size_t limit) {
  return gunzip(file, *in_memory(std::move(packed)), limit);
}

// The number of elements of a tensor whose dimensions come from a file. Throws Error if one is
// zero or negative or the product is above `limit`.
[[nodiscard]] int64_t checked_elements(const std::string& file, std::span<const int64_t> dims,
                                       int64_t limit);

// Text of a file as an error message may show it: quoted, cut to 40 characters, printable.
[[nodiscard]] std::string shown(std::string_view text);

// A cursor over a file's bytes. Every function throws Error naming file, offset and field if the
// file ends first.
class ByteReader {
 public:
  ByteReader(const std::string& file, std::span<const std::byte> bytes)
      : file_(file), bytes_(bytes) {}

  [[nodiscard]] std::span<const std::byte> take(size_t count, const char* field);
  [[nodiscard]] uint32_t u32_big(const char* field) { return static_cast<uint32_t>(big(4, field)); }
  [[nodiscard]] uint32_t little(size_t width, const char* field);
  [[nodiscard]] uint8_t u8(const char* field) { return static_cast<uint8_t>(big(1, field)); }
  [[nodiscard]] size_t offset() const { return offset_; }
  [[nodiscard]] size_t remaining() const { return bytes_.size() - offset_; }

 private:
  uint64_t big(size_t width, const char* field);

  const std::string& file_;
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
};

}  // namespace thimble::data
