#include "data/array.h"

#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace thimble::data {
namespace {

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Calls visitor with a zero of the element's C++ type.
template <class Visitor>
auto visit_element(Element element, Visitor&& visitor) {
  switch (element) {
    case Element::i8:
      return visitor(int8_t{});
    case Element::u16:
      return visitor(uint16_t{});
    case Element::i16:
      return visitor(int16_t{});
    case Element::u32:
      return visitor(uint32_t{});
    case Element::i32:
      return visitor(int32_t{});
    case Element::u64:
      return visitor(uint64_t{});
    case Element::i64:
      return visitor(int64_t{});
    case Element::f32:
      return visitor(float{});
    case Element::f64:
      return visitor(double{});
    case Element::u8:
    case Element::boolean:
      break;
  }
  return visitor(uint8_t{});
}

// to[i] = from[i] / divisor, or the plain value for an integer destination.
template <class To>
void convert(const Array& array, int64_t row, float divisor, To* to) {
  const int64_t count = array.row_elements();
  const std::byte* from = array.data + row * count * size_bytes(array.element);
  const bool is_boolean = array.element == Element::boolean;
  visit_element(array.element, [&](auto zero) {
    using From = decltype(zero);
    for (int64_t i = 0; i < count; ++i) {
      const auto value = load<From>(from + i * static_cast<int64_t>(sizeof(From)));
      if constexpr (std::is_floating_point_v<To>) {
        to[i] = is_boolean ? static_cast<To>(value != 0) : static_cast<To>(value) / divisor;
      } else {
        to[i] = is_boolean ? static_cast<To>(value != 0) : static_cast<To>(value);
      }
    }
  });
}

std::string place(const Array& array, int64_t element) {
  return fmt::format("element {} of sample {}", element % array.row_elements(),
                     element / array.row_elements());
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
        default:
          convert(column.array, index, 1, static_cast<uint8_t*>(out[f]));
          break;
      }
    }
  }
  int64_t bytes() const override {
    int64_t sum = 0;
    for (const Column& column : columns_) sum += column.array.bytes();
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

bool is_floating(Element element) { return element == Element::f32 || element == Element::f64; }

Array array_of_file(std::vector<std::byte> bytes, size_t offset, Element element, Shape shape,
                    bool big_endian) {
  const auto width = static_cast<size_t>(size_bytes(element));
  if (width > 1 && big_endian != (std::endian::native == std::endian::big)) {
    std::byte* at = bytes.data() + offset;
    for (int64_t i = 0; i < shape.elements(); ++i, at += width) std::reverse(at, at + width);
  }
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const std::byte* data = owner->data() + offset;
  return {element, std::move(shape), std::move(owner), data};
}

void check_finite(const std::string& file, const Array& array) {
  visit_element(array.element, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      for (int64_t i = 0; i < array.shape.elements(); ++i) {
        const auto value = load<T>(array.data + i * static_cast<int64_t>(sizeof(T)));
        // Values are handed out as f32: what only f64 can hold would become infinite.
        if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
          throw Error(file, fmt::format("{} is {}; values must be finite and fit f32",
                                        place(array, i), value));
        }
      }
    }
  });
}

void check_class_indices(const std::string& file, const Array& array) {
  visit_element(array.element, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      for (int64_t i = 0; i < array.shape.elements(); ++i) {
        const auto value = load<T>(array.data + i * static_cast<int64_t>(sizeof(T)));
        if (std::cmp_less(value, 0) || !std::in_range<int32_t>(value)) {
          throw Error(file, fmt::format("{} is {}; a class index lies in 0 .. 2^31-1",
                                        place(array, i), value));
        }
      }
    }
  });
}

Dataset array_dataset(std::vector<Column> columns) {
  return Dataset(std::make_shared<ArraySource>(std::move(columns)));
}

Dataset labelled_dataset(const std::string& features_file, Array features,
                         const std::string& features_name, const std::string& labels_file,
                         Array labels, const std::string& labels_name) {
  if (features.rows() != labels.rows()) {
    throw Error(labels_file,
                fmt::format("holds {} labels, but {} holds {} samples; give files that "
                            "belong together",
                            labels.rows(), features_file, features.rows()));
  }
  const auto sample_shape = [](const Array& array) {
    return Shape(std::vector(array.shape.dims().begin() + 1, array.shape.dims().end()));
  };
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
