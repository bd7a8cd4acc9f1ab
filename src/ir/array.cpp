#include <fmt/format.h>
#include <thimble/array.h>
#include <thimble/error.h>

#include <algorithm>

#include "ir/element.h"
#include "ir/sizes.h"

namespace thimble {
namespace {

static_assert(static_cast<int>(DType::f32) == ELEMENT_F32);
static_assert(static_cast<int>(DType::i8) == ELEMENT_I8);
static_assert(static_cast<int>(DType::i32) == ELEMENT_I32);
static_assert(static_cast<int>(DType::u8) == ELEMENT_U8);
static_assert(static_cast<int>(DType::u32) == ELEMENT_U32);
static_assert(static_cast<int>(DType::boolean) == ELEMENT_BOOL);
static_assert(static_cast<int>(DType::f16) == ELEMENT_F16);
static_assert(static_cast<int>(DType::bf16) == ELEMENT_BF16);
static_assert(static_cast<int>(DType::f64) == ELEMENT_F64);
static_assert(static_cast<int>(DType::i64) == ELEMENT_I64);
static_assert(static_cast<int>(DType::i16) == ELEMENT_I16);
static_assert(static_cast<int>(DType::i4) == ELEMENT_I4);

std::string type_text(DType dtype, const Shape& shape) {
  return to_string(dtype) + to_string(shape);
}

void require_sizes(DType dtype, const Shape& shape) {
  for (const int64_t dim : shape.dims()) {
    if (dim < 0) throw Error("array", "a shape has no negative sizes, got " + to_string(shape));
  }
  if (ir::bounded_elements(shape) < ir::kMostProduct) return;
  throw Error("array", fmt::format("{} is too large", type_text(dtype, shape)));
}

std::vector<std::byte> zeros(DType dtype, const Shape& shape) {
  require_sizes(dtype, shape);
  return std::vector<std::byte>(static_cast<size_t>(size_bytes(dtype, shape)));
}

void convert(std::byte* y, DType to, const Array& x) {
  const int from = static_cast<int>(x.dtype());
  const int64_t n = x.elements();
  for (int64_t i = 0; i < n; ++i) {
    element_convert(y, static_cast<int>(to), x.bytes().data(), from, i);
  }
}

}  // namespace

Array::Array(DType dtype, Shape shape, std::shared_ptr<const void> owner,
             std::span<const std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), owner_(std::move(owner)), bytes_(bytes) {
  require_sizes(dtype, shape_);
  const int64_t wanted = size_bytes(dtype, shape_);
  if (static_cast<int64_t>(bytes.size()) != wanted) {
    throw Error("array", fmt::format("{} takes {} bytes, got {}: give as many elements as the "
                                     "shape says",
                                     type_text(dtype, shape_), wanted, bytes.size()));
  }
}

Array::Array(DType dtype, const Shape& shape)
    : Array(of_bytes(dtype, shape, zeros(dtype, shape))) {}

Array Array::view(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  const auto alignment = static_cast<uintptr_t>(is_packed(dtype) ? 1 : bits(dtype) / 8);
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0) {
    throw Error("array", fmt::format("a view of {} needs memory aligned to {} bytes; copy it",
                                     to_string(dtype), alignment));
  }
  return {dtype, shape, nullptr, bytes};
}

Array Array::owned() const {
  if (!is_view()) return *this;
  return of_bytes(dtype_, shape_, {bytes_.begin(), bytes_.end()});
}

std::vector<float> Array::floats() const {
  std::vector<float> values(static_cast<size_t>(elements()));
  convert(reinterpret_cast<std::byte*>(values.data()), DType::f32, *this);
  return values;
}

std::vector<int64_t> Array::integers() const {
  if (is_floating(dtype_)) refuse("an integer type or bool");
  std::vector<int64_t> values(static_cast<size_t>(elements()));
  convert(reinterpret_cast<std::byte*>(values.data()), DType::i64, *this);
  return values;
}

Array Array::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(dtype, shape_)));
  convert(bytes.data(), dtype, *this);
  return of_bytes(dtype, shape_, std::move(bytes));
}

Array Array::reshaped(const Shape& shape) const {
  require_sizes(dtype_, shape);
  if (shape.elements() != elements()) {
    throw Error("array",
                fmt::format("{} has {} elements, shape {} takes {}", type_text(dtype_, shape_),
                            elements(), to_string(shape), shape.elements()));
  }
  return {dtype_, shape, owner_, bytes_};
}

bool Array::operator==(const Array& other) const {
  return dtype_ == other.dtype_ && shape_ == other.shape_ &&
         std::equal(bytes_.begin(), bytes_.end(), other.bytes_.begin(), other.bytes_.end());
}

void Array::refuse(const char* wanted) const {
  throw Error("array", fmt::format("holds {}, but {} was asked for: convert it with cast or "
                                   "floats, or change the graph's type",
                                   type_text(dtype_, shape_), wanted));
}

}  // namespace thimble
