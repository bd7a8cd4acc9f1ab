// Sizes in bytes: 2_MiB, 1.5_GiB.
#pragma once

#include <cstdint>

namespace thimble::literals {

constexpr int64_t operator""_B(unsigned long long n) { return static_cast<int64_t>(n); }
constexpr int64_t operator""_KiB(unsigned long long n) { return static_cast<int64_t>(n) << 10; }
constexpr int64_t operator""_MiB(unsigned long long n) { return static_cast<int64_t>(n) << 20; }
constexpr int64_t operator""_GiB(unsigned long long n) { return static_cast<int64_t>(n) << 30; }

// Fractions of a byte are cut off.
constexpr int64_t operator""_KiB(long double n) { return static_cast<int64_t>(n * 1024.0L); }
constexpr int64_t operator""_MiB(long double n) { return static_cast<int64_t>(n * 1048576.0L); }
constexpr int64_t operator""_GiB(long double n) { return static_cast<int64_t>(n * 1073741824.0L); }

}  // namespace thimble::literals
