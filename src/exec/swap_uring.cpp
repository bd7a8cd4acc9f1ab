// The only file that uses io_uring.
#include "exec/swap_io.h"

#ifdef THIMBLE_HAS_URING

#include <liburing.h>
#include <sys/uio.h>

#include <cerrno>

namespace thimble::exec {
namespace {

class UringIo : public SwapIo {
 public:
  UringIo(const SwapDisk& disk, const SwapOptions& options)
      : SwapIo(disk, options), vectors_(work_.size()), under_way_(work_.size(), false) {
    is_open_ = ::io_uring_queue_init(static_cast<unsigned>(options.buffers), &ring_, 0) == 0;
  }
  ~UringIo() override {
    if (is_open_) ::io_uring_queue_exit(&ring_);
  }
  [[nodiscard]] bool is_open() const { return is_open_; }

  [[nodiscard]] bool is_uring() const override { return true; }

  void start(int buffer, const SwapRequest& request) override {
    work_[static_cast<size_t>(buffer)] = {request, {}, 0};
    submit(static_cast<size_t>(buffer));
  }

  [[nodiscard]] SwapOutcome finish(int buffer) override {
    const auto index = static_cast<size_t>(buffer);
    while (under_way_[index]) take_one();
    return work_[index].outcome;
  }

 private:
  // Vectored calls, because kernels have them from 5.1 on; the plain ones came with 5.6.
  void submit(size_t index) {
    const SwapRequest& rest = work_[index].rest;
    vectors_[index] = {rest.data, static_cast<size_t>(rest.bytes)};
    // There is always room: as many entries as buffers, each submitted at once.
    io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);
    const auto offset = static_cast<uint64_t>(rest.offset);
    if (rest.write) {
      ::io_uring_prep_writev(entry, disk_.descriptor(), &vectors_[index], 1, offset);
    } else {
      ::io_uring_prep_readv(entry, disk_.descriptor(), &vectors_[index], 1, offset);
    }
    ::io_uring_sqe_set_data(entry, &work_[index]);
    int submitted = 0;
    do {
      submitted = ::io_uring_submit(&ring_);
    } while (submitted == -EINTR || submitted == -EAGAIN || submitted == -EBUSY);
    under_way_[index] = submitted >= 0;
    if (submitted < 0) work_[index].outcome = {SwapEnd::refused, -submitted};
  }

  // Waits for one completion of any transfer.
  void take_one() {
    io_uring_cqe* completion = nullptr;
    int error = 0;
    do {
      error = ::io_uring_wait_cqe(&ring_, &completion);
    } while (error == -EINTR || error == -EAGAIN);
    if (error != 0) {  // the ring itself is broken: none of its transfers will complete
      for (size_t i = 0; i < work_.size(); ++i) {
        if (under_way_[i]) work_[i].outcome = {SwapEnd::refused, -error};
        under_way_[i] = false;
      }
      return;
    }
    Work* const work = static_cast<Work*>(::io_uring_cqe_get_data(completion));
    const int64_t answer = completion->res;
    ::io_uring_cqe_seen(&ring_, completion);
    const auto index = static_cast<size_t>(work - work_.data());
    under_way_[index] = false;
    if (note(*work, answer)) submit(index);
  }

  io_uring ring_{};
  bool is_open_ = false;
  std::vector<iovec> vectors_;   // by buffer
  std::vector<char> under_way_;  // by buffer
};

}  // namespace

// Without direct transfers the ring would only move the work to threads of the kernel.
std::unique_ptr<SwapIo> make_uring_io(const SwapDisk& disk, const SwapOptions& options) {
  auto io = std::make_unique<UringIo>(disk, options);
  if (!disk.direct() || !io->is_open()) return nullptr;
  return io;
}

}  // namespace thimble::exec

#else

namespace thimble::exec {

std::unique_ptr<SwapIo> make_uring_io(const SwapDisk& /*disk*/, const SwapOptions& /*options*/) {
  return nullptr;
}

}  // namespace thimble::exec

#endif
