#include "exec/swap_io.h"

#include <unistd.h>

#include <cerrno>

namespace thimble::exec {
namespace {

// Interrupted calls are repeated, but only so often.
constexpr int kMostVain = 100;

class BlockingIo : public SwapIo {
 public:
  using SwapIo::SwapIo;

  void start(int buffer, const SwapRequest& request) override {
    Work& work = work_[static_cast<size_t>(buffer)];
    work = {request, {}, 0};
    while (note(work, call(work.rest))) {
    }
    if (work.outcome.end != SwapEnd::whole) return;
    const int error = disk_.settle(request.write, request.offset, request.bytes);
    if (error != 0) work.outcome = {SwapEnd::refused, error};
  }

  [[nodiscard]] SwapOutcome finish(int buffer) override {
    return work_[static_cast<size_t>(buffer)].outcome;
  }

 private:
  [[nodiscard]] int64_t call(const SwapRequest& r) const {
    const auto bytes = static_cast<size_t>(r.bytes);
    const ssize_t moved = r.write ? ::pwrite(disk_.descriptor(), r.data, bytes, r.offset)
                                  : ::pread(disk_.descriptor(), r.data, bytes, r.offset);
    return moved < 0 ? -errno : moved;
  }
};

}  // namespace

SwapIo::SwapIo(const SwapDisk& disk, const SwapOptions& options)
    : disk_(disk), work_(static_cast<size_t>(options.buffers)), answer_(options.answer) {}

bool SwapIo::note(Work& work, int64_t answer) const {
  if (answer_) answer = answer_(work.rest, answer);
  if (answer < 0 && answer != -EINTR && answer != -EAGAIN) {
    work.outcome = {SwapEnd::refused, static_cast<int>(-answer)};
    return false;
  }
  // A direct transfer can only continue at a whole block: bytes beyond the last one are moved
  // again.
  int64_t moved = answer < 0 ? 0 : answer;
  if (moved < work.rest.bytes && disk_.direct()) moved -= moved % kSwapBlock;
  if (moved == 0 && answer >= 0 && !work.rest.write) {
    work.outcome = {SwapEnd::cut_off, 0};
    return false;
  }
  work.rest.data += moved;
  work.rest.offset += moved;
  work.rest.bytes -= moved;
  work.vain = moved == 0 ? work.vain + 1 : 0;
  if (work.vain < kMostVain) return work.rest.bytes > 0;
  work.outcome = {SwapEnd::no_progress, 0};
  return false;
}

std::unique_ptr<SwapIo> make_blocking_io(const SwapDisk& disk, const SwapOptions& options) {
  return std::make_unique<BlockingIo>(disk, options);
}

}  // namespace thimble::exec
