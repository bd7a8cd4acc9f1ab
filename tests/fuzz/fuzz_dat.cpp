// The first byte chooses the record's shape, the rest is the file.
#include "data/dat.h"

#include <cstdlib>

#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  if (size == 0) return 0;
  const int64_t pixels = data[0] % 4;
  const int64_t classes = data[0] / 4 % 4;
  try {
    const DatRecords records = parse_dat("fuzz", bytes_of(data + 1, size - 1), pixels, classes);
    if (records.pixels.size() != records.classes.size() * static_cast<size_t>(pixels)) std::abort();
    for (const int32_t k : records.classes) {
      if (k < 0 || k >= classes) std::abort();
    }
  } catch (const thimble::Error&) {
  }
  return 0;
}
