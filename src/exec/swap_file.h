// Slots of bytes in a file, written and read back in parallel with the computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace thimble::exec {

class Block;

// How transfers are requested from the system: io_uring if available, else pread and pwrite.
enum class SwapEngine : uint8_t { automatic, uring, blocking };

// One system call: bytes at an offset of the file, from or to a staging buffer.
struct SwapRequest {
  bool write = false;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  int64_t offset = 0;
};

struct SwapOptions {
  int64_t buffer_bytes = int64_t{256} << 10;  // bytes of one staging buffer: a multiple of 4096
  int buffers =
      2;  // chunks in progress at once; with one buffer nothing overlaps within a transfer
  int capacity = 1024;  // transfers that may be queued at once and not yet fully started
  SwapEngine engine = SwapEngine::automatic;
  // The staging buffers of a file of the same sizes that is not used any more; null: the file
  // allocates its own.
  std::shared_ptr<Block> staging;
  bool direct = true;  // bypasses the page cache where the file system supports it
  // For tests: receives each result of the system (bytes moved, or -errno) and returns the one to
  // use.
  std::function<int64_t(const SwapRequest&, int64_t)> answer;
};

// Totals of transfers, and their cost.
struct SwapCounters {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double stall_ms = 0.0;  // spent inside wait()
  double busy_ms =
      0.0;  // with transfers in progress; busy_ms - stall_ms was hidden behind the computation

  [[nodiscard]] SwapCounters operator+(const SwapCounters& more) const {
    return {read_bytes + more.read_bytes, written_bytes + more.written_bytes,
            stall_ms + more.stall_ms, busy_ms + more.busy_ms};
  }
  [[nodiscard]] SwapCounters operator-(const SwapCounters& less) const {
    return {read_bytes - less.read_bytes, written_bytes - less.written_bytes,
            stall_ms - less.stall_ms, busy_ms - less.busy_ms};
  }
};

// Transfers run on one thread, the most urgent first (earliest deadline first: Liu and Layland,
// 1973), in chunks through staging buffers: while one chunk is transferred the next is copied. The
// checksum of each chunk is kept in memory and verified when it is read back. Nothing is allocated
// after the constructor. The file has no name in the file system, belongs to the user alone, and is
// deleted when the process ends.
//
// Thread safety: one thread calls. Data given to start_* must stay valid, and for reads must not be
// touched, until wait() has returned for that slot. After any failure wait() returns false, no
// memory of the caller is touched any more, and all later calls do nothing.
class SwapFile final : public ir::SwapTransfers {
 public:
  using Options = SwapOptions;

  // folder: empty for default_folder(). slot_bytes: the capacity of each slot. Allocates the whole
  // size on the disk at once. Throws Error if the folder cannot be written, the disk lacks the
  // space, or an option is invalid.
  SwapFile(const std::string& folder, const std::vector<int64_t>& slot_bytes,
           const Options& options = {});
  // Waits for transfers in progress, not for those in the queue.
  ~SwapFile() override;

  // Bytes of the staging buffers, the one block that the constructor allocates.
  [[nodiscard]] static int64_t staging_bytes(const Options& options);
  // That block, for a file that replaces this one.
  [[nodiscard]] std::shared_ptr<Block> staging() const;
  // Why a folder cannot hold a swap file of this size, and what to do: it cannot be written, or is
  // in memory (tmpfs), so that a file there frees none, or lacks the space. Empty: it can, unless a
  // disk quota forbids it. folder: empty for default_folder().
  [[nodiscard]] static std::string why_not(const std::string& folder, int64_t bytes);
  // TMPDIR if set; else /tmp, or /var/tmp where /tmp is in memory.
  [[nodiscard]] static std::string default_folder();

  // Queue a transfer without waiting for the disk. bytes: at most the slot's capacity; for a read
  // as many as were written. deadline: of the queued transfers the one with the least deadline
  // comes first, equal deadlines in the order of their starts; transfers of one slot always keep
  // their order. A full queue or any other misuse is a failure.
  void start_write(int slot, const void* data, int64_t bytes, int64_t deadline = 0) override;
  void start_read(int slot, void* data, int64_t bytes, int64_t deadline = 0) override;

  // Waits until all transfers of the slot are done. False after any failure.
  [[nodiscard]] bool wait(int slot) override;

  // The failure: what, where, and what to do; empty: nothing failed.
  [[nodiscard]] std::string error() const;

  [[nodiscard]] SwapCounters counters() const;
  void reset_counters();

  [[nodiscard]] int64_t file_bytes() const;  // on the disk
  [[nodiscard]] bool is_direct() const;      // bypasses the page cache
  [[nodiscard]] bool uses_uring() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Bandwidth {
  double read_bytes_per_second = 0.0;
  double write_bytes_per_second = 0.0;
  double seconds_per_transfer = 0.0;  // of a minimal transfer, from start to the end of wait
};

// Memory that measure_bandwidth allocates, in bytes.
[[nodiscard]] int64_t measuring_bytes(const SwapOptions& options);
// Measures a folder with a SwapFile of a few MiB, in well under 0.3 s unless a single chunk takes
// longer. Throws Error as SwapFile does, and if a transfer fails.
[[nodiscard]] Bandwidth measure_bandwidth(const std::string& folder, SwapOptions options = {});

}  // namespace thimble::exec
