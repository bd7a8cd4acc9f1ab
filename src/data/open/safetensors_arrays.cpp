// Data sets of the tensors in a safetensors file.
#include <thimble/error.h>

#include <fmt/format.h>

#include "data/file.h"
#include "data/open/request.h"
#include "io/safetensors/safetensors.h"

namespace thimble::data {
namespace {

// The reader knows no other types; booleans take a byte in the file.
Element element_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return Element::f64;
    case DType::f16:
      return Element::f16;
    case DType::bf16:
      return Element::bf16;
    case DType::i64:
      return Element::i64;
    case DType::i32:
      return Element::i32;
    case DType::i16:
      return Element::i16;
    case DType::i8:
    case DType::i4:
      return Element::i8;
    case DType::u32:
      return Element::u32;
    case DType::u8:
      return Element::u8;
    case DType::boolean:
      return Element::boolean;
    case DType::f32:
      break;
  }
  return Element::f32;
}

}  // namespace

OpenedPart open_safetensors(const std::string& path, const OpenRequest& request) {
  const StoragePtr bytes = in_file(path);
  const io::Safetensors file = io::Safetensors::open(path);
  std::vector<NamedArray> arrays;
  // The tensors follow the header without a hole, in this order; so said the reader.
  int64_t data = bytes->size();
  for (const io::TensorView& tensor : file.tensors()) {
    data -= tensor.shape.elements() * size_bytes(element_of(tensor.dtype));
  }
  if (data < 0) throw Error(path, "was changed while it was read; open it again");
  for (const io::TensorView& tensor : file.tensors()) {
    const StoredArray array{element_of(tensor.dtype), tensor.shape, bytes, data};
    data += array.bytes();
    if (tensor.shape.rank() == 0 || tensor.shape.elements() == 0) continue;  // holds no samples
    arrays.emplace_back(tensor.name, array);
  }
  ArraysOfPart part = arrays_of_part(path, std::move(arrays), request.split);
  return {matched(path, std::move(part.arrays), request.wanted), part.is_part};
}

}  // namespace thimble::data
