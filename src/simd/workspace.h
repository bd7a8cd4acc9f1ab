// Divides a kernel's workspace into typed, aligned arrays.
#pragma once

#include <cstddef>
#include <cstdint>

namespace thimble::simd {

// A cache line, and the size of the widest vector that is compiled.
inline constexpr int64_t kAlignment = 64;

// Takes arrays from the front. Over a null base it only counts bytes and returns null, so the
// function that lays out a workspace also computes its size.
class Workspace {
 public:
  explicit Workspace(void* base) : base_(static_cast<char*>(base)) {
    const auto address = reinterpret_cast<uintptr_t>(base);
    used_ = static_cast<int64_t>((kAlignment - address % kAlignment) % kAlignment);
  }

  // count elements of T, 64-byte aligned and uninitialised; null while counting.
  template <class T>
  T* take(int64_t count) {
    T* piece = base_ ? reinterpret_cast<T*>(base_ + used_) : nullptr;
    const int64_t bytes = count * static_cast<int64_t>(sizeof(T));
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return piece;
  }

  // Bytes taken so far, including padding.
  [[nodiscard]] int64_t used() const { return used_; }

  // Bytes needed if the base may have any alignment; meaningful while counting.
  [[nodiscard]] int64_t bytes() const { return used_ == 0 ? 0 : used_ + kAlignment; }

 private:
  char* base_;
  int64_t used_ = 0;
};

[[nodiscard]] constexpr int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
[[nodiscard]] constexpr int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

}  // namespace thimble::simd
