#include "train/stored_tensor.h"

#include <memory>
#include <vector>

namespace thimble::train {

io::TensorView stored_tensor(const exec::Store& store, const exec::Store::Entry& entry) {
  io::TensorView view{.name = entry.name,
                      .dtype = io::file_dtype(entry.type.dtype),
                      .shape = entry.type.shape,
                      .bytes = {},
                      .fetch = [&] { return store.read(entry); }};
  if (is_packed(entry.type.dtype)) {
    const auto held = std::make_shared<std::vector<std::byte>>();
    view.fetch = [&store, &entry, held] {
      *held = io::unpacked(entry.type.dtype, entry.type.shape, store.read(entry));
      return std::span<const std::byte>(*held);
    };
  }
  return view;
}

}  // namespace thimble::train
