// Typed arrays, the inputs and outputs of graphs, trainers and predictors.
#pragma once

#include <thimble/types.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace thimble {

// The C++ types that hold an element. uint16_t holds the bits of an f16 or a bf16.
template <class T>
concept ArrayElement = std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, int8_t> || std::same_as<T, int16_t> || std::same_as<T, int32_t> ||
    std::same_as<T, int64_t> || std::same_as<T, uint8_t> || std::same_as<T, uint32_t>;

template <ArrayElement T>
[[nodiscard]] constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::u32;
}

// Elements of one type under a shape, row-major. Immutable: copies share the elements, which the
// array owns or which it only views.
// Thread safety: const functions may be called from several threads.
// Errors: thimble::Error naming the types or sizes that do not fit.
class Array {
 public:
  Array() : Array(DType::f32, Shape{0}) {}
  // Zeros.
  Array(DType dtype, const Shape& shape);
  // Takes over the values: [values.size()], or any shape of that many elements.
  template <ArrayElement T>
  Array(std::vector<T> values)  // NOLINT: implicit, so that vectors can be handed over as they are
      : Array(own(dtype_of<T>(), {static_cast<int64_t>(values.size())}, std::move(values))) {}
  template <ArrayElement T>
  Array(std::vector<T> values, const Shape& shape)
      : Array(own(dtype_of<T>(), shape, std::move(values))) {}
  Array(std::initializer_list<float> values) : Array(std::vector<float>(values)) {}
  // Takes over elements in their memory format, also of packed types, f16 and bf16.
  [[nodiscard]] static Array of_bytes(DType dtype, const Shape& shape,
                                      std::vector<std::byte> bytes) {
    return own(dtype, shape, std::move(bytes));
  }
  // A view of memory that must outlive the array and its copies and be aligned for its elements.
  [[nodiscard]] static Array view(DType dtype, const Shape& shape,
                                  std::span<const std::byte> bytes);
  template <ArrayElement T>
  [[nodiscard]] static Array view(std::span<const T> values, const Shape& shape) {
    return view(dtype_of<T>(), shape, std::as_bytes(values));
  }

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] int64_t elements() const { return shape_.elements(); }
  // size_bytes(dtype(), shape()), in their memory format.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] bool is_view() const { return owner_ == nullptr && !bytes_.empty(); }
  // Returns this array, or a copy that owns the elements.
  [[nodiscard]] Array owned() const;

  // The elements if they have this type: uint16_t for f16 and bf16, no C++ type for i4 and boolean.
  // An rvalue returns a copy. Throws Error naming both types.
  template <class T>
  requires(ArrayElement<T> || std::same_as<T, uint16_t>)
      [[nodiscard]] std::span<const T> as() const& {
    require<T>();
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::vector<T> as() && {
    const std::span<const T> values = static_cast<const Array&>(*this).as<T>();
    return {values.begin(), values.end()};
  }
  // The elements converted to f32: to nearest, ties to even.
  [[nodiscard]] std::vector<float> floats() const;
  // The elements of an integer or boolean type, exactly; throws Error for floating point.
  [[nodiscard]] std::vector<int64_t> integers() const;
  // The elements converted to another type, by the rules of the op cast (thimble/ops/cast.h).
  [[nodiscard]] Array cast(DType dtype) const;
  // The same elements under another shape with as many elements.
  [[nodiscard]] Array reshaped(const Shape& shape) const;

  // Whether type, shape and bytes are equal.
  bool operator==(const Array& other) const;

 private:
  Array(DType dtype, Shape shape, std::shared_ptr<const void> owner,
        std::span<const std::byte> bytes);
  template <class T>
  static Array own(DType dtype, const Shape& shape, std::vector<T>&& values) {
    auto held = std::make_shared<const std::vector<T>>(std::move(values));
    const std::span<const std::byte> bytes = std::as_bytes(std::span(*held));
    return {dtype, shape, std::move(held), bytes};
  }
  template <class T>
  void require() const {
    if constexpr (std::same_as<T, uint16_t>) {
      if (dtype_ != DType::f16 && dtype_ != DType::bf16) refuse("f16 or bf16");
    } else if (dtype_ != dtype_of<T>()) {
      refuse(to_string(dtype_of<T>()));
    }
  }
  [[noreturn]] void refuse(const char* wanted) const;

  DType dtype_;
  Shape shape_;
  std::shared_ptr<const void> owner_;  // null: a view
  std::span<const std::byte> bytes_;
};

}  // namespace thimble
