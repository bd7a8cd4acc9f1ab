// A small random generator whose values are the same on every platform.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace thimble::data {

// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection that scatters every bit.
[[nodiscard]] constexpr uint64_t scatter(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// One key out of several: a change of any of them gives an unrelated key.
template <class... Parts>
[[nodiscard]] constexpr uint64_t key_of(Parts... parts) {
  uint64_t key = 0;
  ((key = scatter(key + 0x9e3779b97f4a7c15u + static_cast<uint64_t>(parts))), ...);
  return key;
}

// SplitMix64. Not for cryptography.
class Random {
 public:
  explicit constexpr Random(uint64_t key) : state_(key) {}

  constexpr uint64_t next() { return scatter(state_ += 0x9e3779b97f4a7c15u); }

  // In [0, n), every value equally likely. n >= 1.
  constexpr uint64_t below(uint64_t n) {
    // Draws past the last multiple of n would favour small values: draw again.
    const uint64_t excess = (UINT64_MAX % n + 1) % n;
    uint64_t draw = next();
    while (draw > UINT64_MAX - excess) draw = next();
    return draw % n;
  }

  // In [0, 1), a multiple of 2^-24.
  constexpr float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  constexpr float uniform(float low, float high) { return low + (high - low) * uniform(); }

  // About normal with mean 0 and deviation 1, inside -3.5 .. 3.5: a sum of four uniforms
  // (Irwin-Hall). Needs no logarithm, whose last bit differs between C libraries.
  constexpr float normal() {
    const float sum = uniform() + uniform() + uniform() + uniform();
    return (sum - 2.0f) * 1.7320508f;
  }

 private:
  uint64_t state_;
};

// Fisher-Yates. std::shuffle gives other orders with other standard libraries.
template <class T>
constexpr void shuffle(std::span<T> values, Random random) {
  for (size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(i)]);
  }
}

}  // namespace thimble::data
