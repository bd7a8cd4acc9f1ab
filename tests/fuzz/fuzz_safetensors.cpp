// Any bytes as a safetensors file: named tensors whose bytes lie inside the file, or an Error.
#include <thimble/error.h>

#include <cstdlib>

#include "io/safetensors/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  try {
    const auto file = io::Safetensors::parse("fuzz", {reinterpret_cast<const char*>(data), size});
    unsigned sum = 0;
    for (const io::TensorView& tensor : file.tensors()) {
      if (static_cast<int64_t>(tensor.bytes.size()) != size_bytes(tensor.dtype, tensor.shape) ||
          file.find(tensor.name) != &tensor) {
        std::abort();
      }
      for (const std::byte byte : tensor.bytes) sum += static_cast<unsigned>(byte);
    }
    volatile unsigned sink = sum;  // every byte is read
    static_cast<void>(sink);
  } catch (const Error&) {
  }
  return 0;
}
