// The checksum of the chunks of a swap file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace thimble::exec {

// Copies bytes from src to dst and returns their 64-bit checksum. Any change within eight aligned
// bytes is detected for certain, other changes with near certainty. seed: identifies the place of
// the bytes, so that equal bytes from another place fail the check. The ranges must not overlap.
//
// Keeps eight independent sums, each sum = rotate(sum + word * odd) * odd. Each step is reversible,
// so the change of one word never gets lost. Words are multiplied before the addition, because else
// two flipped bits in words of one sum could cancel: a product carries only upwards and leaves a
// flipped highest bit in place.
inline uint64_t copy_with_checksum(std::byte* dst, const std::byte* src, int64_t bytes,
                                   uint64_t seed) {
  constexpr size_t kLanes = 8;
  constexpr size_t kStripe = kLanes * sizeof(uint64_t);
  // Odd numbers without a pattern.
  constexpr uint64_t kOddOfWords = 0xd1342543de82ef95;
  constexpr uint64_t kOddOfSums = 0x9e3779b97f4a7c15;
  constexpr int kRotation = 29;
  const auto step = [](uint64_t sum, uint64_t word) {
    return std::rotl(sum + word * kOddOfWords, kRotation) * kOddOfSums;
  };

  std::array<uint64_t, kLanes> sums;
  for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] = step(seed, lane);
  std::array<uint64_t, kLanes> words;
  auto left = static_cast<size_t>(bytes);
  for (; left >= kStripe; left -= kStripe, src += kStripe, dst += kStripe) {
    std::memcpy(words.data(), src, kStripe);
    std::memcpy(dst, words.data(), kStripe);
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] = step(sums[lane], words[lane]);
  }
  if (left > 0) {
    words.fill(0);
    std::memcpy(words.data(), src, left);
    std::memcpy(dst, words.data(), left);
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] = step(sums[lane], words[lane]);
  }
  uint64_t total = static_cast<uint64_t>(bytes);
  for (const uint64_t sum : sums) {
    total = step(total, sum);
    total ^= total >> 32;
  }
  return total;
}

}  // namespace thimble::exec
