// Any bytes as an IDX file: an array or an Error, nothing else.
#include "data/idx.h"

#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  try {
    use_array(parse_idx("fuzz", bytes_of(data, size)));
  } catch (const thimble::Error&) {
  }
  return 0;
}
