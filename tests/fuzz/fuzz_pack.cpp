// Any bytes as a packing problem: buffers that can be packed and written back, or an Error.
#include <thimble/error.h>

#include <cstdlib>

#include "io/pack_csv/pack_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace thimble;
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const io::PackTable table = io::parse_pack_csv("fuzz", text);
    const plan::Packing packing = plan::pack(table.buffers, {.steps = 100'000});
    plan::check(table.buffers, packing);
    const std::string written = io::to_pack_csv(table, packing.offsets);
    const io::PackTable again = io::parse_pack_csv("fuzz", written);
    if (io::to_pack_csv(again, packing.offsets) != written) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
