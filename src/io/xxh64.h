// The 64-bit checksum of files: XXH64 with seed 0. Source: Collet, "xxHash fast digest algorithm",
// specification 0.1.1, section XXH64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace thimble::io {

// Takes bytes piece by piece; the sum does not depend on where they are cut.
class Xxh64 {
 public:
  Xxh64();
  void update(std::span<const std::byte> bytes);
  // Of all bytes so far.
  [[nodiscard]] uint64_t value() const;
  // The value as 16 hexadecimal digits, highest first.
  [[nodiscard]] std::string hex() const;

 private:
  static constexpr size_t kStripe = 32;
  void stripes(const std::byte* bytes, size_t count);

  uint64_t sums_[4];
  std::byte rest_[kStripe] = {};  // bytes that do not fill a stripe yet
  size_t rest_size_ = 0;
  uint64_t size_ = 0;
};

}  // namespace thimble::io
