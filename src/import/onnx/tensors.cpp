#include "import/onnx/tensors.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "import/onnx/external.h"
#include "import/onnx/onnx.pb.h"
#include "io/json/parse.h"

namespace thimble::importer::onnx {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 40;
constexpr int kMostRank = 8;
constexpr int kExternal = 1;  // TensorProto.DataLocation

// TensorProto.DataType.
enum : int64_t {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kBfloat16 = 16,
  kInt4 = 22,
};

class Reader {
 public:
  Reader(const std::string& model, onnx_file::TensorProto& message, bool may_read)
      : model_(model), message_(message), may_read_(may_read) {}

  Tensor run() {
    const std::optional<ElementType> type = element_type(message_.data_type());
    if (!type) {
      fail(fmt::format("thimble has no elements of {}", element_name(message_.data_type())));
    }
    type_ = *type;
    shape_ = shape();
    bytes_ = size_bytes(type_.dtype, shape_);
    std::vector<std::byte> data = contents();
    if (type_.is_bool) {
      for (std::byte& one : data) one = one == std::byte{0} ? std::byte{0} : std::byte{1};
    }
    return {Array::of_bytes(type_.dtype, shape_, std::move(data)), type_.is_bool};
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(model_, fmt::format("tensor {}: {}", io::printable(message_.name()), what));
  }

  [[nodiscard]] Shape shape() const {
    if (message_.dims_size() > kMostRank) {
      fail(fmt::format("expected at most {} dimensions, got {}", kMostRank, message_.dims_size()));
    }
    std::vector<int64_t> dims;
    int64_t elements = 1;
    for (const int64_t dim : message_.dims()) {
      if (dim < 0 || (dim > 0 && elements > kMostElements / dim)) {
        fail(fmt::format("the dimension {} is below 0 or makes it too large", dim));
      }
      elements *= dim;
      dims.push_back(dim);
    }
    return Shape(std::move(dims));
  }

  std::vector<std::byte> contents() {
    if (message_.data_location() == kExternal) {
      if (!may_read_) fail("its data lies in another file");
      if (message_.has_raw_data()) fail("it has data of its own and external data");
      std::map<std::string, std::string> entries;
      for (const auto& entry : message_.external_data()) entries[entry.key()] = entry.value();
      return read_external(model_, message_.name(), entries, bytes_);
    }
    if (message_.has_raw_data()) return raw();
    switch (message_.data_type()) {
      case kFloat:
        return numbers<float>(message_.float_data());
      case kDouble:
        return numbers<double>(message_.double_data());
      case kInt64:
        return numbers<int64_t>(message_.int64_data());
      case kUint32:
        return numbers<uint32_t>(message_.uint64_data());
      case kInt32:
        return numbers<int32_t>(message_.int32_data());
      case kInt16:
        return numbers<int16_t>(message_.int32_data());
      case kFloat16:
      case kBfloat16:
        return numbers<uint16_t>(message_.int32_data());
      case kInt4:
        return packed();
      default:
        return numbers<uint8_t>(message_.int32_data());
    }
  }

  std::vector<std::byte> raw() {
    const std::string& data = message_.raw_data();
    if (static_cast<int64_t>(data.size()) != bytes_) {
      fail(fmt::format("its shape takes {} bytes, but it has {}", bytes_, data.size()));
    }
    std::vector<std::byte> copy(data.size());
    if (!data.empty()) std::memcpy(copy.data(), data.data(), data.size());
    std::string().swap(*message_.mutable_raw_data());
    return copy;
  }

  // A number an element, converted to the type that is held.
  template <class To, class Field>
  std::vector<std::byte> numbers(const Field& field) const {
    if (static_cast<int64_t>(field.size()) != shape_.elements()) {
      fail(fmt::format("its shape has {} elements, but it has {} numbers", shape_.elements(),
                       field.size()));
    }
    std::vector<std::byte> data(static_cast<size_t>(bytes_));
    size_t at = 0;
    for (const auto number : field) {
      const To held = static_cast<To>(number);
      std::memcpy(data.data() + at, &held, sizeof(held));
      at += sizeof(held);
    }
    return data;
  }

  // Two numbers of four bits in each.
  std::vector<std::byte> packed() const {
    if (message_.int32_data_size() != bytes_) {
      fail(fmt::format("its shape takes {} bytes, but it has {} numbers", bytes_,
                       message_.int32_data_size()));
    }
    std::vector<std::byte> data;
    for (const int32_t number : message_.int32_data()) data.push_back(std::byte(number & 255));
    return data;
  }

  const std::string& model_;
  onnx_file::TensorProto& message_;
  bool may_read_;
  ElementType type_;
  Shape shape_;
  int64_t bytes_ = 0;
};

}  // namespace

std::optional<ElementType> element_type(int64_t number) {
  switch (number) {
    case kFloat:
      return ElementType{DType::f32};
    case kUint8:
      return ElementType{DType::u8};
    case kInt8:
      return ElementType{DType::i8};
    case kInt16:
      return ElementType{DType::i16};
    case kInt32:
      return ElementType{DType::i32};
    case kInt64:
      return ElementType{DType::i64};
    case kBool:
      return ElementType{DType::u8, true};
    case kFloat16:
      return ElementType{DType::f16};
    case kDouble:
      return ElementType{DType::f64};
    case kUint32:
      return ElementType{DType::u32};
    case kBfloat16:
      return ElementType{DType::bf16};
    case kInt4:
      return ElementType{DType::i4};
    default:
      return std::nullopt;
  }
}

std::string element_name(int64_t number) {
  static constexpr const char* kNames[] = {
      "undefined",      "float32",  "uint8",        "int8",           "uint16",
      "int16",          "int32",    "int64",        "string",         "bool",
      "float16",        "float64",  "uint32",       "uint64",         "complex64",
      "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0",
      "uint2",          "int2"};
  if (number >= 0 && number < static_cast<int64_t>(std::size(kNames))) return kNames[number];
  return fmt::format("type {}", number);
}

Tensor tensor_of(const std::string& model, onnx_file::TensorProto& message, bool may_read) {
  return Reader(model, message, may_read).run();
}

}  // namespace thimble::importer::onnx
