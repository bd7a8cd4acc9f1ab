// The system's side of a swap file: moves whole chunks between staging buffers and the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exec/swap_disk.h"
#include "exec/swap_file.h"

namespace thimble::exec {

// How the transfer of a chunk ended.
enum class SwapEnd : uint8_t {
  whole,
  refused,      // the system returned an errno
  cut_off,      // the file ends before the chunk does
  no_progress,  // repeated calls move no bytes
};

struct SwapOutcome {
  SwapEnd end = SwapEnd::whole;
  int error = 0;  // errno if refused
};

// At most one transfer per staging buffer at a time. Calls from one thread.
class SwapIo {
 public:
  SwapIo(const SwapDisk& disk, const SwapOptions& options);
  virtual ~SwapIo() = default;
  SwapIo(const SwapIo&) = delete;
  SwapIo& operator=(const SwapIo&) = delete;

  // Starts a transfer of a buffer that has none in progress.
  virtual void start(int buffer, const SwapRequest& request) = 0;
  // Waits for the transfer of a buffer.
  [[nodiscard]] virtual SwapOutcome finish(int buffer) = 0;
  [[nodiscard]] virtual bool is_uring() const { return false; }

 protected:
  // The rest of a chunk's transfer.
  struct Work {
    SwapRequest rest;
    SwapOutcome outcome;
    int vain = 0;  // consecutive results that moved nothing
  };
  // Records the result of the request work.rest: bytes moved, or -errno. True: the rest must be
  // requested.
  [[nodiscard]] bool note(Work& work, int64_t answer) const;

  const SwapDisk& disk_;
  std::vector<Work> work_;  // by buffer

 private:
  std::function<int64_t(const SwapRequest&, int64_t)> answer_;
};

// By pread and pwrite: start() does the whole transfer.
[[nodiscard]] std::unique_ptr<SwapIo> make_blocking_io(const SwapDisk& disk,
                                                       const SwapOptions& options);
// By io_uring. Null if this build or the running kernel does not support it.
[[nodiscard]] std::unique_ptr<SwapIo> make_uring_io(const SwapDisk& disk,
                                                    const SwapOptions& options);

}  // namespace thimble::exec
