// Any bytes as a zip archive, its members as .npy files: arrays or an Error, nothing else.
#include "data/zip.h"

#include "data/npy.h"
#include "fuzz_array.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble::data;
  const StoragePtr archive = in_memory(bytes_of(data, size));
  try {
    static_cast<void>(is_zip(*archive));
    for (const ZipMember& member : zip_members("fuzz", *archive)) {
      try {
        use_array(parse_npy(member.name, unzip("fuzz", archive, member)));
      } catch (const thimble::Error&) {
      }
    }
  } catch (const thimble::Error&) {
  }
  return 0;
}
