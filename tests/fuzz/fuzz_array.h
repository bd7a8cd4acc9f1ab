// Uses a parsed array as the fuzzers of the array readers do.
#pragma once

#include <thimble/error.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "data/array.h"

namespace thimble::data {

// Reads the first and the last sample as features and as labels: a shape that passed the reader's
// checks must be safe to use.
inline void use_array(const StoredArray& array) {
  const Dataset set = labelled_dataset("features", array, "x", "labels", array, "y");
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> out;
  for (const Field& field : set.fields()) {
    buffers.emplace_back(static_cast<size_t>(size_bytes(field.dtype, field.shape)));
    out.push_back(buffers.back().data());
  }
  set.read(0, out);
  set.read(set.size() - 1, out);
}

inline std::vector<std::byte> bytes_of(const uint8_t* data, size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + size};
}

}  // namespace thimble::data
