#include "io/npy/npy_write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thimble/error.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ir/element.h"
#include "ir/sizes.h"

namespace thimble::io {
namespace {

const char* npy_type(const std::string& path, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
    case DType::bf16:
      return "<f4";
    case DType::f16:
      return "<f2";
    case DType::i8:
    case DType::i4:
      return "|i1";
    case DType::i16:
      return "<i2";
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::u8:
      return "|u1";
    case DType::u32:
      return "<u4";
    case DType::boolean:
      return "|b1";
  }
  throw Error(path, fmt::format("an .npy file cannot hold {}", to_string(dtype)));
}

std::string npy_header(const std::string& path, DType dtype, const Shape& shape) {
  constexpr size_t kPrefix = 10;
  if (shape.rank() > ir::kMostRank) {
    throw Error(path, fmt::format("has {} dimensions; at most {} are written", shape.rank(),
                                  ir::kMostRank));
  }
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                 npy_type(path, dtype), fmt::join(shape.dims(), ", "),
                                 shape.rank() == 1 ? "," : "");
  // As NumPy pads it: so that the elements begin at a multiple of 64 bytes.
  while ((kPrefix + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

// Elements that the file keeps in another form than memory does.
std::vector<std::byte> widened(DType dtype, std::span<const std::byte> from, int64_t count) {
  std::vector<std::byte> to;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    if (is_packed(dtype)) {
      const int64_t value = element_load_int(from.data(), static_cast<int>(dtype), i);
      to.push_back(static_cast<std::byte>(static_cast<uint8_t>(value)));
    } else {  // bf16 is the upper half of an f32
      to.insert(to.end(), {std::byte{0}, std::byte{0}, from[2 * at], from[2 * at + 1]});
    }
  }
  return to;
}

}  // namespace

NpyWriter::NpyWriter(const std::string& path, DType dtype, const Shape& shape)
    : path_(path), dtype_(dtype), shape_(shape), missing_(shape.elements()), file_(path) {
  file_.write(npy_header(path_, dtype_, shape_));
}

void NpyWriter::write(std::span<const std::byte> elements, int64_t count) {
  if (count < 0 || count > missing_ ||
      static_cast<int64_t>(elements.size()) != size_bytes(dtype_, {count})) {
    throw Error(
        path_, fmt::format("{} elements in {} bytes do not fit {}{}, of which {} are missing",
                           count, elements.size(), to_string(dtype_), to_string(shape_), missing_));
  }
  missing_ -= count;
  if (!is_packed(dtype_) && dtype_ != DType::bf16) return file_.write(elements);
  constexpr int64_t kPart = 4096;  // elements; whole bytes of bits
  for (int64_t at = 0; at < count; at += kPart) {
    const int64_t part = std::min(kPart, count - at);
    file_.write(widened(dtype_,
                        elements.subspan(static_cast<size_t>(size_bytes(dtype_, {at})),
                                         static_cast<size_t>(size_bytes(dtype_, {part}))),
                        part));
  }
}

void NpyWriter::commit() {
  if (missing_ != 0) {
    throw Error(path_,
                fmt::format("{} of the {} elements were not written", missing_, shape_.elements()));
  }
  file_.commit();
}

void write_npy(const std::string& path, DType dtype, const Shape& shape,
               std::span<const std::byte> bytes) {
  NpyWriter writer(path, dtype, shape);
  writer.write(bytes, shape.elements());
  writer.commit();
}

}  // namespace thimble::io
