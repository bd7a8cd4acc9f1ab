// Any bytes as an .npy file: an array or an Error, nothing else.
#include "data/npy.h"

#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  try {
    use_array(parse_npy("fuzz", bytes_of(data, size)));
  } catch (const thimble::Error&) {
  }
  return 0;
}
