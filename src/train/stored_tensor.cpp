#include "train/stored_tensor.h"

#include "ir/mapped.h"

namespace thimble::train {

Shape packed_shape(const Shape& shape) {
  std::vector<int64_t> dims = shape.dims();
  if (dims.empty() || dims.back() % 2 != 0) return {(shape.elements() + 1) / 2};
  dims.back() /= 2;
  return Shape(dims);
}

bool is_held(const io::TensorView& tensor, const ir::TensorType& type) {
  if (tensor.dtype == io::file_dtype(type.dtype) && tensor.shape == type.shape) return true;
  return is_held_packed(tensor, type) && tensor.shape == packed_shape(type.shape);
}

bool is_held_packed(const io::TensorView& tensor, const ir::TensorType& type) {
  return type.dtype == DType::i4 && tensor.dtype == DType::u8;
}

io::TensorView stored_tensor(const exec::Store& store, const exec::Store::Entry& entry,
                             const Unpacked& unpacked) {
  io::TensorView view{.name = entry.name,
                      .dtype = io::file_dtype(entry.type.dtype),
                      .shape = entry.type.shape,
                      .bytes = {},
                      .fetch = [&] { return store.read(entry); }};
  if (entry.type.dtype == DType::i4 && ir::is_mapped(entry.role, entry.type)) {
    view.dtype = DType::u8;
    view.shape = packed_shape(entry.type.shape);
  } else if (is_packed(entry.type.dtype)) {
    view.fetch = [&store, &entry, unpacked] {
      *unpacked = io::unpacked(entry.type.dtype, entry.type.shape, store.read(entry));
      return std::span<const std::byte>(*unpacked);
    };
  }
  return view;
}

}  // namespace thimble::train
