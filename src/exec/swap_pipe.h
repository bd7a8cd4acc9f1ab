// Moves whole transfers of a swap file as chunks through its staging buffers. Uses no threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "exec/swap_io.h"

namespace thimble::exec {

struct SwapTransfer {
  int slot = 0;
  bool write = false;
  std::byte* data = nullptr;  // a write only reads it
  int64_t bytes = 0;
  int64_t deadline = 0;  // see SwapFile::start_write
};

// A failure, stored without text because recording it may not allocate.
struct SwapFailure {
  enum class Kind : uint8_t {
    none,
    disk,           // see outcome
    changed,        // a checksum differs
    never_written,  // a read of a slot that was never written
    other_size,     // a read of another size than was written
    no_such_slot,
    beyond_slot,  // more bytes than the slot's capacity
    full_queue,
  };
  Kind kind = Kind::none;
  SwapTransfer transfer;
  SwapOutcome outcome;
  int64_t offset = 0;  // in the file
  int64_t limit = 0;   // capacity of the slot, bytes written, or capacity of the queue
};

// One line: what failed, where, and what to do.
[[nodiscard]] std::string describe(const SwapFailure& failure, const std::string& folder);

// Where slots lie in the file; each starts at a whole block.
struct SwapLayout {
  explicit SwapLayout(const std::vector<int64_t>& slot_bytes, int64_t buffer_bytes);
  std::vector<int64_t> slot_bytes;
  std::vector<int64_t> offsets;       // by slot
  std::vector<int64_t> first_chunks;  // by slot; chunks are numbered over the whole file
  int64_t chunks = 0;
  int64_t file_bytes = 0;
};

// Calls from one thread; nothing allocates after the constructor.
class SwapPipe {
 public:
  // staging: options.buffers times options.buffer_bytes. done is called for each transfer that ends
  // without error, those of a slot in order. Once stop is set no further chunk is started.
  SwapPipe(SwapIo& io, const SwapLayout& layout, std::byte* staging, const SwapOptions& options,
           const std::atomic<bool>& stop, std::function<void(const SwapTransfer&)> done);

  // Starts the chunk of a transfer that begins at that byte; a buffer must be free. The chunks of a
  // transfer come in order, all of them before a later transfer of the slot. False: stopped, or
  // failed.
  [[nodiscard]] bool start(const SwapTransfer& transfer, int64_t begin);
  // Of every chunk except the last of a transfer.
  [[nodiscard]] int64_t chunk_bytes() const { return buffer_bytes_; }
  // Whether no buffer is free.
  [[nodiscard]] bool full() const { return under_way_ == static_cast<int>(chunks_.size()); }
  // Whether no chunk is in progress.
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  // Finishes the oldest chunk in progress; there must be one. False: failed.
  [[nodiscard]] bool finish_oldest();
  // Waits for the chunks in progress and discards them.
  void abandon();

  [[nodiscard]] const SwapFailure& failure() const { return failure_; }

 private:
  struct Chunk {
    SwapTransfer transfer;  // the transfer it is part of
    int64_t begin = 0;      // offset in the transfer
    int64_t bytes = 0;
    int64_t offset = 0;  // offset in the file
  };
  // Whether a transfer may start: its size matches what was written, and no write of its slot is in
  // progress.
  [[nodiscard]] bool enter(const SwapTransfer& transfer);
  [[nodiscard]] bool is_under_way(int slot) const;
  [[nodiscard]] std::byte* buffer(int index) const { return staging_ + index * buffer_bytes_; }
  [[nodiscard]] uint64_t& checksum(const Chunk& chunk);
  [[nodiscard]] bool fail(const SwapFailure& failure);

  SwapIo& io_;
  const SwapLayout& layout_;
  std::byte* staging_;
  int64_t buffer_bytes_;
  const std::atomic<bool>& stop_;
  std::function<void(const SwapTransfer&)> done_;
  std::vector<Chunk> chunks_;           // by buffer, used as a ring
  std::vector<uint64_t> checksums_;     // by chunk number
  std::vector<int64_t> written_bytes_;  // by slot; -1: never
  int oldest_ = 0;
  int under_way_ = 0;
  SwapFailure failure_;
};

}  // namespace thimble::exec
