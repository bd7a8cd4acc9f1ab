// Element types and shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace thimble {

// Element types. i4 and boolean are packed: two numbers (the first in the low half) and eight bits
// (the first in the lowest) in a byte. f16 is IEEE 754 binary16, bf16 the upper half of an f32.
enum class DType : uint8_t { f32, i8, i32, u8, u32, boolean, f16, bf16, f64, i64, i16, i4 };

inline constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                    DType::i64, DType::i32, DType::i16, DType::i8,
                                    DType::i4,  DType::u32, DType::u8,  DType::boolean};

// "f32", "bool": in messages, text and files.
[[nodiscard]] const char* to_string(DType dtype);
// Bits of an element: 4 for i4, 1 for boolean, else a multiple of 8.
[[nodiscard]] int bits(DType dtype);
// f64, f32, f16 and bf16.
[[nodiscard]] bool is_floating(DType dtype);
// Whether several elements share a byte: i4 and boolean.
[[nodiscard]] bool is_packed(DType dtype);

// The batch size while a graph is being described: unknown, printed as "N". It is a prime larger
// than any real dimension, so that shape rules need no special case for it.
inline constexpr int64_t kBatch = 1'000'003;

// A static shape, outermost dimension first. Images are [N, H, W, C].
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::vector<int64_t>(dims)) {}
  explicit Shape(std::vector<int64_t> dims)
      : dims_(std::make_shared<const std::vector<int64_t>>(std::move(dims))) {}

  [[nodiscard]] int rank() const { return static_cast<int>(dims().size()); }
  // axis may be negative: -1 is the last dimension.
  [[nodiscard]] int64_t operator[](int axis) const {
    return dims()[static_cast<size_t>(axis < 0 ? axis + rank() : axis)];
  }
  [[nodiscard]] const std::vector<int64_t>& dims() const { return dims_ ? *dims_ : scalar(); }
  // Number of elements; 1 for a scalar (rank 0).
  [[nodiscard]] int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims()) n *= d;
    return n;
  }
  bool operator==(const Shape& other) const {
    return dims_ == other.dims_ || dims() == other.dims();
  }

 private:
  static const std::vector<int64_t>& scalar() {
    static const std::vector<int64_t> none;
    return none;
  }

  std::shared_ptr<const std::vector<int64_t>> dims_;  // shared by copies; null: none
};

// "[N, 28, 28, 1]"
[[nodiscard]] std::string to_string(const Shape& shape);

// Bytes of a tensor in memory; of packed types rounded up to whole bytes.
[[nodiscard]] int64_t size_bytes(DType dtype, const Shape& shape);

}  // namespace thimble
