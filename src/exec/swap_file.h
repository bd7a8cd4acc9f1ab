// Slots of bytes in a file of its own, written and read back beside the computation.
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

// How the system is asked for transfers: io_uring where it is there, else pread and pwrite.
enum class SwapEngine : uint8_t { automatic, uring, blocking };

// One call of the system: bytes at an offset of the file, from or to a staging buffer.
struct SwapRequest {
  bool write = false;
  std::byte* data = nullptr;
  int64_t bytes = 0;
  int64_t offset = 0;
};

struct SwapOptions {
  int64_t buffer_bytes = int64_t{256} << 10;  // of one staging buffer: a multiple of 4096
  int buffers = 2;      // chunks under way at once; with one nothing overlaps within a transfer
  int capacity = 1024;  // transfers that may be queued at once and not be wholly begun
  SwapEngine engine = SwapEngine::automatic;
  // Of a file of the same sizes that is idle from now on; none: one of its own.
  std::shared_ptr<Block> staging;
  bool direct = true;  // past the page cache, where the file system can do that
  // Tests: sees each answer of the system (bytes moved, or -errno) and returns the one to believe.
  std::function<int64_t(const SwapRequest&, int64_t)> answer;
};

// What has been moved, and what it cost.
struct SwapCounters {
  int64_t read_bytes = 0;
  int64_t written_bytes = 0;
  double stall_ms = 0.0;  // spent inside wait()
  double busy_ms = 0.0;   // with transfers under way; what is not stall was hidden

  [[nodiscard]] SwapCounters operator+(const SwapCounters& more) const {
    return {read_bytes + more.read_bytes, written_bytes + more.written_bytes,
            stall_ms + more.stall_ms, busy_ms + more.busy_ms};
  }
  [[nodiscard]] SwapCounters operator-(const SwapCounters& less) const {
    return {read_bytes - less.read_bytes, written_bytes - less.written_bytes,
            stall_ms - less.stall_ms, busy_ms - less.busy_ms};
  }
};

// Transfers run on one thread, the most urgent one first (earliest deadline first: Liu and Layland,
// 1973), chunk by chunk through staging buffers: while one chunk is on its way the next is copied.
// Each chunk's checksum is kept in memory and checked when it comes back. Nothing is allocated
// after the constructor. The file has no name from the moment it is made, belongs to the user
// alone, and is gone with the process.
//
// Thread safety: one thread calls. Data given to start_* must stay, and for reads be left alone,
// until wait() has returned for that slot. After any failure wait() returns false, nothing of the
// caller's memory is touched any more, and all later calls do nothing.
class SwapFile final : public ir::SwapTransfers {
 public:
  using Options = SwapOptions;

  // folder: empty for default_folder(). slot_bytes: the most each slot will hold. Takes the whole
  // size on the disk at once. Throws Error where the folder cannot be written, the disk lacks the
  // space, or an option is invalid.
  SwapFile(const std::string& folder, const std::vector<int64_t>& slot_bytes,
           const Options& options = {});
  // Waits for what the disk is doing, not for what is queued.
  ~SwapFile() override;

  // Bytes of the one block that the constructor allocates for staging.
  [[nodiscard]] static int64_t staging_bytes(const Options& options);
  // That block, for a file that takes this one's place.
  [[nodiscard]] std::shared_ptr<Block> staging() const;
  // Why there can be no file of so many bytes in a folder, and what to do: it takes none, or lies
  // in memory (tmpfs), so that a file there frees none, or has no room. Empty: there can be one,
  // unless a quota of the disk is in the way. folder: empty for default_folder().
  [[nodiscard]] static std::string why_not(const std::string& folder, int64_t bytes);
  // TMPDIR; else /tmp, or /var/tmp where /tmp is memory itself.
  [[nodiscard]] static std::string default_folder();

  // Queue a transfer; never wait for the disk. bytes: at most the slot's, and for a read as many
  // as were written. deadline: of what is queued the least comes first, and of one deadline what
  // was started first; but those of a slot stay in the order of their starts. A full queue, or any
  // other misuse, is a failure.
  void start_write(int slot, const void* data, int64_t bytes, int64_t deadline = 0) override;
  void start_read(int slot, void* data, int64_t bytes, int64_t deadline = 0) override;

  // Until all transfers of the slot are done. False after any failure.
  [[nodiscard]] bool wait(int slot) override;

  // What failed, where and what to do about it; empty: nothing.
  [[nodiscard]] std::string error() const;

  [[nodiscard]] SwapCounters counters() const;
  void reset_counters();

  [[nodiscard]] int64_t file_bytes() const;  // on the disk
  [[nodiscard]] bool is_direct() const;      // past the page cache
  [[nodiscard]] bool uses_uring() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Bandwidth {
  double read_bytes_per_second = 0.0;
  double write_bytes_per_second = 0.0;
  double seconds_per_transfer = 0.0;  // of a transfer of next to nothing, from start to wait
};

// Memory that measure_bandwidth takes.
[[nodiscard]] int64_t measuring_bytes(const SwapOptions& options);
// Measures a folder through a SwapFile of a few MiB, in well under 0.3 s unless a single chunk
// takes longer. Throws Error as SwapFile does, and where a transfer fails.
[[nodiscard]] Bandwidth measure_bandwidth(const std::string& folder, SwapOptions options = {});

}  // namespace thimble::exec
