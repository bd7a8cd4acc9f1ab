#include "train/stored_tensor.h"

namespace thimble::train {

io::TensorView stored_tensor(const exec::Store& store, const exec::Store::Entry& entry,
                             const Unpacked& unpacked) {
  io::TensorView view{.name = entry.name,
                      .dtype = io::file_dtype(entry.type.dtype),
                      .shape = entry.type.shape,
                      .bytes = {},
                      .fetch = [&] { return store.read(entry); }};
  if (is_packed(entry.type.dtype)) {
    view.fetch = [&store, &entry, unpacked] {
      *unpacked = io::unpacked(entry.type.dtype, entry.type.shape, store.read(entry));
      return std::span<const std::byte>(*unpacked);
    };
  }
  return view;
}

}  // namespace thimble::train
