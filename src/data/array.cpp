#include "data/array.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "data/array_visit.h"
#include "ir/element.h"

namespace thimble::data {
namespace {

std::string place(const StoredArray& array, int64_t element) {
  return fmt::format("element {} of sample {}", element % array.row_elements(),
                     element / array.row_elements());
}

// to[i] = from[i] / divisor, or the plain value for an integer destination.
template <class To>
void convert(const StoredArray& array, int64_t row, float divisor, To* to) {
  const int64_t begin = row * array.row_elements();
  visit_element(array.element, [&](auto zero) {
    using From = decltype(zero);
    for_parts<From>(array, begin, begin + array.row_elements(),
                    [&](int64_t first, const std::byte* from, int64_t count) {
                      To* const out = to + (first - begin);
                      for (int64_t i = 0; i < count; ++i) {
                        const auto value = number_of(
                            load_element<From>(from + i * static_cast<int64_t>(sizeof(From))));
                        if constexpr (std::is_floating_point_v<To>) {
                          out[i] = static_cast<To>(value) / divisor;
                        } else {
                          out[i] = static_cast<To>(value);
                        }
                      }
                    });
  });
}

// Throws what `fault` says of the first element for which it says something.
template <class Fault>
void check_each(const std::string& file, const StoredArray& array, Fault&& fault) {
  visit_element(array.element, [&](auto zero) {
    using T = decltype(zero);
    for_parts<T>(
        array, 0, array.shape.elements(), [&](int64_t first, const std::byte* from, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const auto value =
                number_of(load_element<T>(from + i * static_cast<int64_t>(sizeof(T))));
            const char* const what = fault(value);
            if (what == nullptr) continue;
            throw Error(file, fmt::format("{} is {}; {}", place(array, first + i), value, what));
          }
        });
  });
}

// The same for every type of field, element by element.
void convert_any(const Column& column, int64_t row, void* to) {
  const StoredArray& array = column.array;
  const int64_t begin = row * array.row_elements();
  const int type = static_cast<int>(column.field.dtype);
  const bool is_real = thimble::is_floating(column.field.dtype);
  visit_element(array.element, [&](auto zero) {
    using From = decltype(zero);
    for_parts<From>(
        array, begin, begin + array.row_elements(),
        [&](int64_t first, const std::byte* from, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const auto value =
                number_of(load_element<From>(from + i * static_cast<int64_t>(sizeof(From))));
            if (is_real) {
              element_store_real(to, type, first - begin + i,
                                 static_cast<double>(value) / column.divisor);
            } else {
              element_store_int(to, type, first - begin + i, static_cast<int64_t>(value));
            }
          }
        });
  });
}

class ArraySource : public Source {
 public:
  explicit ArraySource(std::vector<Column> columns) : columns_(std::move(columns)) {
    for (const Column& column : columns_) fields_.push_back(column.field);
  }
  int64_t size() const override { return columns_.empty() ? 0 : columns_.front().array.rows(); }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t f = 0; f < columns_.size(); ++f) {
      const Column& column = columns_[f];
      switch (column.field.dtype) {
        case DType::f32:
          convert(column.array, index, column.divisor, static_cast<float*>(out[f]));
          break;
        case DType::i32:
          convert(column.array, index, 1, static_cast<int32_t*>(out[f]));
          break;
        case DType::u8:
          convert(column.array, index, 1, static_cast<uint8_t*>(out[f]));
          break;
        default:
          convert_any(column, index, out[f]);
      }
    }
  }
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const Column& column : columns_) sum += column.array.memory_bytes();
    return sum;
  }

 private:
  std::vector<Column> columns_;
  std::vector<Field> fields_;
};

}  // namespace

int64_t size_bytes(Element element) {
  return visit_element(element, [](auto zero) { return static_cast<int64_t>(sizeof(zero)); });
}

bool is_floating(Element element) {
  return element == Element::f16 || element == Element::bf16 || element == Element::f32 ||
         element == Element::f64;
}

const char* to_string(Element element) {
  switch (element) {
    case Element::u8:
      return "u8";
    case Element::i8:
      return "i8";
    case Element::u16:
      return "u16";
    case Element::i16:
      return "i16";
    case Element::u32:
      return "u32";
    case Element::i32:
      return "i32";
    case Element::u64:
      return "u64";
    case Element::i64:
      return "i64";
    case Element::f16:
      return "f16";
    case Element::bf16:
      return "bf16";
    case Element::f32:
      return "f32";
    case Element::f64:
      return "f64";
    case Element::boolean:
      break;
  }
  return "bool";
}

StoredArray array_of_file(StoragePtr file, int64_t offset, Element element, Shape shape,
                          bool big_endian) {
  const bool swapped =
      size_bytes(element) > 1 && big_endian != (std::endian::native == std::endian::big);
  return {element, std::move(shape), std::move(file), offset, swapped};
}

void check_finite(const std::string& file, const StoredArray& array, DType dtype) {
  constexpr double kLargestF16 = 65504;
  constexpr double kLargestBf16 = 3.3895313892515355e38;
  double largest = std::numeric_limits<float>::max();
  if (dtype == DType::f64) largest = std::numeric_limits<double>::max();
  if (dtype == DType::f16) largest = kLargestF16;
  if (dtype == DType::bf16) largest = kLargestBf16;
  if (!is_floating(array.element) && dtype != DType::f16) return;
  const std::string what =
      fmt::format("values must be finite and fit {}", thimble::to_string(dtype));
  check_each(file, array, [&](auto value) -> const char* {
    // A value that only a wider type can hold would become infinite.
    return std::abs(static_cast<double>(value)) <= largest ? nullptr : what.c_str();
  });
}

void check_booleans(const std::string& file, const StoredArray& array) {
  if (array.element != Element::boolean) return;
  check_each(file, array, [](auto value) -> const char* {
    return value == 0 || value == 1 ? nullptr : "a boolean is a byte of 0 or 1";
  });
}

void check_class_indices(const std::string& file, const StoredArray& array) {
  check_each(file, array, [](auto value) -> const char* {
    if constexpr (std::is_integral_v<decltype(value)>) {
      if (std::cmp_less(value, 0) || !std::in_range<int32_t>(value)) {
        return "a class index lies in 0 .. 2^31-1";
      }
    }
    return nullptr;
  });
}

void check_integers(const std::string& file, const StoredArray& array, DType dtype) {
  const int bits = thimble::bits(dtype);
  std::pair<int64_t, int64_t> range = {0, (int64_t{1} << (bits & 63)) - 1};  // unsigned
  if (dtype != DType::u8 && dtype != DType::u32 && dtype != DType::boolean) {
    range.second = INT64_MAX >> (64 - bits);
    range.first = -range.second - 1;
  }
  const std::string what =
      fmt::format("{} holds {} to {}", thimble::to_string(dtype), range.first, range.second);
  check_each(file, array, [&](auto value) -> const char* {
    if constexpr (std::is_integral_v<decltype(value)>) {
      if (std::cmp_less(value, range.first) || std::cmp_greater(value, range.second)) {
        return what.c_str();
      }
    }
    return nullptr;
  });
}

Dataset array_dataset(std::vector<Column> columns) {
  return Dataset(std::make_shared<ArraySource>(std::move(columns)));
}

Dataset labelled_dataset(const std::string& features_file, StoredArray features,
                         const std::string& features_name, const std::string& labels_file,
                         StoredArray labels, const std::string& labels_name) {
  if (features.rows() != labels.rows()) {
    throw Error(labels_file,
                fmt::format("holds {} labels, but {} holds {} samples; give files that "
                            "belong together",
                            labels.rows(), features_file, features.rows()));
  }
  const auto sample_shape = [](const StoredArray& array) {
    return Shape(std::vector(array.shape.dims().begin() + 1, array.shape.dims().end()));
  };
  check_booleans(features_file, features);
  check_booleans(labels_file, labels);
  check_finite(features_file, features);
  Shape label_shape = sample_shape(labels);
  if (label_shape == Shape{1}) label_shape = {};
  const bool targets = is_floating(labels.element);
  if (targets) {
    check_finite(labels_file, labels);
  } else {
    check_class_indices(labels_file, labels);
  }
  Field feature_field{features_name, sample_shape(features)};
  Field label_field{labels_name, label_shape, targets ? DType::f32 : DType::i32, true};
  const float divisor = features.element == Element::u8 ? 255.0f : 1.0f;
  std::vector<Column> columns;
  columns.push_back({std::move(feature_field), std::move(features), divisor});
  columns.push_back({std::move(label_field), std::move(labels)});
  return array_dataset(std::move(columns));
}

}  // namespace thimble::data
