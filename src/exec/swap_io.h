// The system's side of a swap file: whole chunks between staging buffers and the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exec/swap_disk.h"
#include "exec/swap_file.h"

namespace thimble::exec {

// How a chunk's transfer has ended.
enum class SwapEnd : uint8_t {
  whole,
  refused,      // by the system: an errno
  cut_off,      // the file ends before the chunk does
  no_progress,  // asked again and again, the system moves nothing
};

struct SwapOutcome {
  SwapEnd end = SwapEnd::whole;
  int error = 0;  // errno, of refused
};

// One transfer per staging buffer at a time. Calls from one thread.
class SwapIo {
 public:
  SwapIo(const SwapDisk& disk, const SwapOptions& options);
  virtual ~SwapIo() = default;
  SwapIo(const SwapIo&) = delete;
  SwapIo& operator=(const SwapIo&) = delete;

  // Starts a transfer for a buffer that has none.
  virtual void start(int buffer, const SwapRequest& request) = 0;
  // Waits for the transfer of a buffer.
  [[nodiscard]] virtual SwapOutcome finish(int buffer) = 0;
  [[nodiscard]] virtual bool is_uring() const { return false; }

 protected:
  // What is left of a chunk's transfer.
  struct Work {
    SwapRequest rest;
    SwapOutcome outcome;
    int vain = 0;  // answers in a row that moved nothing
  };
  // Notes the system's answer to the request for work.rest: bytes moved, or -errno. True: the rest
  // of it has to be asked for.
  [[nodiscard]] bool note(Work& work, int64_t answer) const;

  const SwapDisk& disk_;
  std::vector<Work> work_;  // by buffer

 private:
  std::function<int64_t(const SwapRequest&, int64_t)> answer_;
};

// By pread and pwrite: a start is the whole transfer.
[[nodiscard]] std::unique_ptr<SwapIo> make_blocking_io(const SwapDisk& disk,
                                                       const SwapOptions& options);
// By io_uring. Null where this build or the running kernel has none.
[[nodiscard]] std::unique_ptr<SwapIo> make_uring_io(const SwapDisk& disk,
                                                    const SwapOptions& options);

}  // namespace thimble::exec
