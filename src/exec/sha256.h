// SHA-256. Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace thimble::exec {

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  // The digest of all bytes so far, 64 hex digits; more may be added afterwards.
  [[nodiscard]] std::string hex() const;

 private:
  void block(const uint8_t* bytes);

  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> buffer_{};
  size_t buffered_ = 0;
  uint64_t length_ = 0;  // in bytes
};

}  // namespace thimble::exec
