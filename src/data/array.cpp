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

constexpr int64_t kPartBytes = 4096;  // read at once from a file

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

std::string place(const Array& array, int64_t element) {
  return fmt::format("element {} of sample {}", element % array.row_elements(),
                     element / array.row_elements());
}

// Calls visitor(first, elements, count) for parts of the elements begin .. end - 1, of type T, in
// order: for all at once where they lie in memory as they are.
template <class T, class Visitor>
void for_parts(const Array& array, int64_t begin, int64_t end, Visitor&& visitor) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(T));
  const std::byte* const memory = array.storage->data();
  if (memory != nullptr && (kWidth == 1 || !array.swapped)) {
    visitor(begin, memory + array.offset + begin * kWidth, end - begin);
    return;
  }
  std::byte part[kPartBytes];
  for (int64_t at = begin; at < end;) {
    const int64_t count = std::min<int64_t>(end - at, kPartBytes / kWidth);
    array.storage->read(array.offset + at * kWidth, {part, static_cast<size_t>(count * kWidth)});
    if (array.swapped) {
      for (int64_t i = 0; i < count; ++i) {
        std::reverse(part + i * kWidth, part + (i + 1) * kWidth);
      }
    }
    visitor(at, static_cast<const std::byte*>(part), count);
    at += count;
  }
}

// to[i] = from[i] / divisor, or the plain value for an integer destination.
template <class To>
void convert(const Array& array, int64_t row, float divisor, To* to) {
  const int64_t begin = row * array.row_elements();
  const bool is_boolean = array.element == Element::boolean;
  visit_element(array.element, [&](auto zero) {
    using From = decltype(zero);
    for_parts<From>(
        array, begin, begin + array.row_elements(),
        [&](int64_t first, const std::byte* from, int64_t count) {
          To* const out = to + (first - begin);
          for (int64_t i = 0; i < count; ++i) {
            const auto value = load<From>(from + i * static_cast<int64_t>(sizeof(From)));
            if constexpr (std::is_floating_point_v<To>) {
              out[i] = is_boolean ? static_cast<To>(value != 0) : static_cast<To>(value) / divisor;
            } else {
              out[i] = is_boolean ? static_cast<To>(value != 0) : static_cast<To>(value);
            }
          }
        });
  });
}

// Throws what `fault` says of the first element for which it says something.
template <class Fault>
void check_each(const std::string& file, const Array& array, Fault&& fault) {
  visit_element(array.element, [&](auto zero) {
    using T = decltype(zero);
    for_parts<T>(
        array, 0, array.shape.elements(), [&](int64_t first, const std::byte* from, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const auto value = load<T>(from + i * static_cast<int64_t>(sizeof(T)));
            const char* const what = fault(value);
            if (what == nullptr) continue;
            throw Error(file, fmt::format("{} is {}; {}", place(array, first + i), value, what));
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
        default:
          convert(column.array, index, 1, static_cast<uint8_t*>(out[f]));
          break;
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

bool is_floating(Element element) { return element == Element::f32 || element == Element::f64; }

Array array_of_file(StoragePtr file, int64_t offset, Element element, Shape shape,
                    bool big_endian) {
  const bool swapped =
      size_bytes(element) > 1 && big_endian != (std::endian::native == std::endian::big);
  return {element, std::move(shape), std::move(file), offset, swapped};
}

void check_finite(const std::string& file, const Array& array) {
  if (!is_floating(array.element)) return;
  check_each(file, array, [](auto value) -> const char* {
    if constexpr (std::is_floating_point_v<decltype(value)>) {
      // Values are handed out as f32: what only f64 can hold would become infinite.
      if (!(std::abs(value) <= std::numeric_limits<float>::max())) {
        return "values must be finite and fit f32";
      }
    }
    return nullptr;
  });
}

void check_class_indices(const std::string& file, const Array& array) {
  check_each(file, array, [](auto value) -> const char* {
    if constexpr (std::is_integral_v<decltype(value)>) {
      if (std::cmp_less(value, 0) || !std::in_range<int32_t>(value)) {
        return "a class index lies in 0 .. 2^31-1";
      }
    }
    return nullptr;
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
