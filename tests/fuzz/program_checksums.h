// Damaged program files whose checksums are right again.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "program/bytes.h"

namespace thimble::test {

// Offsets within a file; docs/guide/programs.md describes it.
inline constexpr size_t kSectionCountAt = 24;
inline constexpr size_t kTableSumAt = 32;
inline constexpr size_t kTableAt = 40;
inline constexpr size_t kEntryBytes = 32;

inline uint64_t word_at(const std::string& bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

inline void set_word(std::string& bytes, size_t at, uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

inline uint64_t sum_of(std::string_view bytes) {
  return program::checksum(std::as_bytes(std::span(bytes)));
}

// Lets every checksum, and the size of the file, be that of what stands there, as far as the table
// of sections lies within it.
inline std::string with_checksums(std::string bytes) {
  if (bytes.size() < kTableAt) return bytes;
  set_word(bytes, 16, bytes.size());
  const uint64_t count = word_at(bytes, kSectionCountAt);
  if (count > (bytes.size() - kTableAt) / kEntryBytes) return bytes;
  for (size_t i = 0; i < count; ++i) {
    const size_t entry = kTableAt + i * kEntryBytes;
    const uint64_t offset = word_at(bytes, entry + 8);
    const uint64_t size = word_at(bytes, entry + 16);
    if (offset > bytes.size() || size > bytes.size() - offset) continue;
    set_word(bytes, entry + 24, sum_of(std::string_view(bytes).substr(offset, size)));
  }
  const std::string header = bytes.substr(0, kTableSumAt);
  set_word(bytes, kTableSumAt, sum_of(header + bytes.substr(kTableAt, count * kEntryBytes)));
  return bytes;
}

}  // namespace thimble::test
