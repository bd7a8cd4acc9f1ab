// Whole transfers of a swap file as chunks through its staging buffers. Knows no threads.
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
  std::byte* data = nullptr;  // only read where write
  int64_t bytes = 0;
  int64_t deadline = 0;  // see SwapFile::start_write
};

// What has gone wrong, kept without text because noting it may not allocate.
struct SwapFailure {
  enum class Kind : uint8_t {
    none,
    disk,           // see outcome
    changed,        // a checksum differs
    never_written,  // a read of a slot before any write
    other_size,     // a read of other bytes than were written
    no_such_slot,
    beyond_slot,  // more bytes than the slot has
    full_queue,
  };
  Kind kind = Kind::none;
  SwapTransfer transfer;
  SwapOutcome outcome;
  int64_t offset = 0;  // in the file
  int64_t limit = 0;   // bytes of the slot, bytes written, or places in the queue
};

// One line: what failed, where, and what to do.
[[nodiscard]] std::string describe(const SwapFailure& failure, const std::string& folder);

// Where slots lie in the file, each at a whole block.
struct SwapLayout {
  explicit SwapLayout(const std::vector<int64_t>& slot_bytes, int64_t buffer_bytes);
  std::vector<int64_t> slot_bytes;
  std::vector<int64_t> offsets;       // by slot
  std::vector<int64_t> first_chunks;  // by slot; chunks are numbered through the whole file
  int64_t chunks = 0;
  int64_t file_bytes = 0;
};

// Calls from one thread; nothing allocates after the constructor.
class SwapPipe {
 public:
  // staging: options.buffers times options.buffer_bytes. done is called for each transfer as it
  // ends well, those of a slot in order. Once stop is set no further chunk is begun.
  SwapPipe(SwapIo& io, const SwapLayout& layout, std::byte* staging, const SwapOptions& options,
           const std::atomic<bool>& stop, std::function<void(const SwapTransfer&)> done);

  // Begins the chunk of a transfer that begins at that byte; there must be a free buffer. A
  // transfer's chunks come in order, and all of them before a later transfer of the slot. False:
  // stopped, or failed.
  [[nodiscard]] bool start(const SwapTransfer& transfer, int64_t begin);
  // Of every chunk but the last of a transfer.
  [[nodiscard]] int64_t chunk_bytes() const { return buffer_bytes_; }
  // No buffer is free.
  [[nodiscard]] bool full() const { return under_way_ == static_cast<int>(chunks_.size()); }
  // Nothing is under way.
  [[nodiscard]] bool idle() const { return under_way_ == 0; }
  // Ends the oldest chunk under way; there must be one. False: failed.
  [[nodiscard]] bool finish_oldest();
  // Waits for what is under way and forgets it.
  void abandon();

  [[nodiscard]] const SwapFailure& failure() const { return failure_; }

 private:
  struct Chunk {
    SwapTransfer transfer;  // the one it is part of
    int64_t begin = 0;      // in the transfer
    int64_t bytes = 0;
    int64_t offset = 0;  // in the file
  };
  // A transfer may begin: it fits to what was written, of which nothing is under way any more.
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
  std::vector<Chunk> chunks_;           // by buffer, a ring
  std::vector<uint64_t> checksums_;     // by chunk of the file
  std::vector<int64_t> written_bytes_;  // by slot; -1: never
  int oldest_ = 0;
  int under_way_ = 0;
  SwapFailure failure_;
};

}  // namespace thimble::exec
