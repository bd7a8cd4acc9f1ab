// Any bytes as the three files of thimble-micro: refused by a status, or run without reading or
// writing beyond the memory that they were given.
//   program bytes (32 bits), wof bytes (32 bits), program, wof, model
// Checksums are made right first, so that changes reach what is behind them.
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "micro/program_file.h"
#include "micro/thimble_micro.h"

namespace {

constexpr size_t kMostMemory = size_t{1} << 14;  // of a training: more only takes time
constexpr size_t kMostCalls = 200;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Bytes = std::unique_ptr<unsigned char, Free>;

// A copy that ends where its bytes do.
Bytes copy_of(const uint8_t* data, size_t size) {
  Bytes bytes(static_cast<unsigned char*>(std::malloc(size == 0 ? 1 : size)));
  if (size > 0) std::memcpy(bytes.get(), data, size);
  return bytes;
}

uint32_t crc_of(const unsigned char* data, size_t size) {
  return static_cast<uint32_t>(crc32(0, data, static_cast<uInt>(size)));
}

void put(unsigned char* to, uint32_t number) { std::memcpy(to, &number, sizeof(number)); }

int discard(void* /*user*/, const void* data, size_t bytes) {
  return bytes > 0 && data == nullptr ? 1 : 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint32_t sizes[2];
  if (size < sizeof(sizes)) return 0;
  std::memcpy(sizes, data, sizeof(sizes));
  data += sizeof(sizes);
  size -= sizeof(sizes);
  if (sizes[0] > size || sizes[1] > size - sizes[0]) return 0;
  const size_t model_bytes = size - sizes[0] - sizes[1];
  const Bytes program = copy_of(data, sizes[0]);
  const Bytes wof = copy_of(data + sizes[0], sizes[1]);
  const Bytes model = copy_of(data + sizes[0] + sizes[1], model_bytes);
  if (sizes[0] >= sizeof(micro_header)) {
    micro_header h;
    std::memcpy(&h, program.get(), sizeof(h));
    h.model_bytes = static_cast<uint32_t>(model_bytes);
    h.model_crc = crc_of(model.get(), model_bytes);
    std::memcpy(program.get(), &h, sizeof(h));
    h.crc = crc_of(program.get() + MICRO_CHECKED_FROM, sizes[0] - MICRO_CHECKED_FROM);
    std::memcpy(program.get(), &h, sizeof(h));
    if (h.calls.count > kMostCalls) return 0;
    if (sizes[1] >= 24 && crc_of(wof.get(), 4) != 0) {
      put(wof.get() + sizes[1] - 8, h.structure);
      put(wof.get() + sizes[1] - 4, crc_of(wof.get(), sizes[1] - 4));
    }
  }
  const thimble_micro_files files{model.get(), model_bytes,   wof.get(),
                                  sizes[1],    program.get(), sizes[0]};
  const size_t memory_bytes = thimble_micro_memory_bytes(program.get(), sizes[0]);
  if (memory_bytes > kMostMemory) return 0;
  const Bytes memory(static_cast<unsigned char*>(std::calloc(1, memory_bytes + 1)));
  thimble_micro m;
  if (thimble_micro_open(&m, &files, memory.get(), memory_bytes) != THIMBLE_MICRO_OK) return 0;
  float loss = 0.0F;
  static_cast<void>(thimble_micro_set_constant(&m, "momentum", 0.5));
  static_cast<void>(thimble_micro_step(&m, 0.01F, &loss));
  static_cast<void>(thimble_micro_step(&m, 0.01F, &loss));
  static_cast<void>(thimble_micro_run(&m, THIMBLE_MICRO_EVALUATE));
  static_cast<void>(thimble_micro_run(&m, THIMBLE_MICRO_PREDICT));
  const thimble_micro_store store{nullptr, nullptr, discard, nullptr};
  if (thimble_micro_write_weights(&m, &store) != THIMBLE_MICRO_OK) std::abort();
  if (thimble_micro_write_checkpoint(&m, &store) != THIMBLE_MICRO_OK) std::abort();
  if (thimble_micro_read_checkpoint(&m, wof.get(), sizes[1]) == THIMBLE_MICRO_OK) std::abort();
  return 0;
}
