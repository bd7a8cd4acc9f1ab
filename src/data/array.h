// Samples in the type their file stores, converted when they are read.
#pragma once

#include <thimble/data.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/storage.h"

namespace thimble::data {

// Element types of the file formats. boolean: one byte, 0 or 1.
enum class Element : uint8_t { u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, boolean };

[[nodiscard]] int64_t size_bytes(Element element);
[[nodiscard]] bool is_floating(Element element);
[[nodiscard]] const char* to_string(Element element);  // "u8", "f16"

// An immutable array, row-major. The first dimension counts the samples.
struct StoredArray {
  Element element = Element::u8;
  Shape shape;
  StoragePtr storage;
  int64_t offset = 0;    // of the first element; need not be aligned
  bool swapped = false;  // the bytes of an element stand in the other order than the host's

  [[nodiscard]] int64_t rows() const { return shape[0]; }
  // Elements of one sample.
  [[nodiscard]] int64_t row_elements() const { return shape.elements() / rows(); }
  [[nodiscard]] int64_t bytes() const { return shape.elements() * size_bytes(element); }
  // Of them, what is held in memory.
  [[nodiscard]] int64_t memory_bytes() const { return storage->data() == nullptr ? 0 : bytes(); }
};

template <class T>
[[nodiscard]] constexpr Element element_of() {
  if constexpr (std::is_same_v<T, float>) return Element::f32;
  if constexpr (std::is_same_v<T, int32_t>) return Element::i32;
  if constexpr (std::is_same_v<T, uint8_t>) return Element::u8;
}

// Storage that is a vector of numbers.
template <class T>
class NumberStorage final : public Storage {
 public:
  explicit NumberStorage(std::vector<T> values) : values_(std::move(values)) {}
  int64_t size() const override { return static_cast<int64_t>(values_.size() * sizeof(T)); }
  int64_t memory_bytes() const override { return size(); }
  void read(int64_t offset, std::span<std::byte> to) const override {
    std::copy_n(data() + offset, to.size(), to.begin());
  }
  const std::byte* data() const override {
    return reinterpret_cast<const std::byte*>(values_.data());
  }

 private:
  std::vector<T> values_;
};

// Takes over values, which hold shape.elements() elements.
template <class T>
[[nodiscard]] StoredArray make_array(std::vector<T> values, Shape shape) {
  return {element_of<T>(), std::move(shape), std::make_shared<NumberStorage<T>>(std::move(values))};
}

// The elements from byte `offset` of a file on, as many as shape says (checked by the caller).
[[nodiscard]] StoredArray array_of_file(StoragePtr file, int64_t offset, Element element,
                                        Shape shape, bool big_endian);

// Throws Error naming the first element that is not finite in a field of that floating-point type.
void check_finite(const std::string& file, const StoredArray& array, DType dtype = DType::f32);

// Throws Error naming the first boolean that is neither 0 nor 1. Does nothing for other elements.
void check_booleans(const std::string& file, const StoredArray& array);

// Throws Error naming the first element outside 0 .. 2^31-1. For integers only.
void check_class_indices(const std::string& file, const StoredArray& array);

// Throws Error naming the first integer that a field of that integer type cannot hold.
void check_integers(const std::string& file, const StoredArray& array, DType dtype);

// One field of a data set with the array it is read from.
struct Column {
  Field field;  // of a type that holds the array's values
  StoredArray array;
  float divisor = 1;  // of floating-point fields: what values are divided by
};

// A data set of arrays with the same number of rows.
[[nodiscard]] Dataset array_dataset(std::vector<Column> columns);

// Features as f32 (u8 divided by 255, as the usual readers do) and labels as integers' class
// indices or floating-point targets; [N, 1] labels count as [N]. Throws Error if the counts differ
// or a value is not usable.
[[nodiscard]] Dataset labelled_dataset(const std::string& features_file, StoredArray features,
                                       const std::string& features_name,
                                       const std::string& labels_file, StoredArray labels,
                                       const std::string& labels_name);

}  // namespace thimble::data
