#include <cstdlib>

#include "data/cifar.h"
#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  CifarRecords records;
  try {
    parse_cifar("fuzz", bytes_of(data, size), records);
    if (records.labels.empty()) std::abort();
    if (records.images.size() != records.labels.size() * kCifarImage) std::abort();
    for (const uint8_t label : records.labels) {
      if (label >= kCifarClasses) std::abort();
    }
  } catch (const thimble::Error&) {
  }
  return 0;
}
