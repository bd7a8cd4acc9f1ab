// Sizes in bytes: 2_MiB.
#pragma once

#include <cstdint>

namespace thimble::literals {

constexpr int64_t operator""_B(unsigned long long n) { return static_cast<int64_t>(n); }
constexpr int64_t operator""_KiB(unsigned long long n) { return static_cast<int64_t>(n) << 10; }
constexpr int64_t operator""_MiB(unsigned long long n) { return static_cast<int64_t>(n) << 20; }
constexpr int64_t operator""_GiB(unsigned long long n) { return static_cast<int64_t>(n) << 30; }

}  // namespace thimble::literals
