// Writing NumPy's .npy files (numpy.lib.format, version 1.0).
#pragma once

#include <thimble/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/atomic_file.h"

namespace thimble::io {

// Writes one array piece by piece, so that it need not lie in memory. The file appears whole at
// commit() or not at all (AtomicFile). NumPy has no bf16: such values are written as <f4, which
// holds them exactly. boolean is written as |b1, i4 as |i1.
class NpyWriter {
 public:
  // Throws Error naming the path where it cannot be written.
  NpyWriter(const std::string& path, DType dtype, const Shape& shape);

  // The next `count` elements as they lie in memory: size_bytes(dtype, {count}) bytes. Throws Error
  // where they are more than the shape has.
  void write(std::span<const std::byte> elements, int64_t count);
  // Throws Error where elements are missing.
  void commit();

 private:
  std::string path_;
  DType dtype_;
  Shape shape_;
  int64_t missing_;  // elements
  AtomicFile file_;
};

// A whole array at once. bytes: size_bytes(dtype, shape) of them, row-major.
void write_npy(const std::string& path, DType dtype, const Shape& shape,
               std::span<const std::byte> bytes);

}  // namespace thimble::io
