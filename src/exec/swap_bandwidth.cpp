// What a folder's disk gives a swap file.
#include <thimble/error.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "exec/swap_disk.h"
#include "exec/swap_file.h"

namespace thimble::exec {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kFileBytes = int64_t{4} << 20;
constexpr int64_t kPieceBytes = int64_t{256} << 10;  // a transfer; less where staging is smaller
constexpr double kSeconds = 0.04;                    // for each part
constexpr int64_t kSmallBytes = 1;                   // next to nothing: one block of the disk
constexpr int kSmallTransfers = 15;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Measurement {
 public:
  Measurement(const std::string& folder, const SwapOptions& options)
      : block_(std::clamp(options.buffers * options.buffer_bytes, kSwapBlock, kPieceBytes)),
        file_(folder, std::vector<int64_t>(static_cast<size_t>(slots()), block_.bytes()), options) {
  }

  [[nodiscard]] int slots() const { return static_cast<int>(kFileBytes / block_.bytes()); }

  // Bytes a second over the first slots, at most so many, until the time is over; how many in
  // *slots. The next transfer is queued while one runs, as in a training step.
  double rate(bool write, int* slots) {
    const Clock::time_point start = Clock::now();
    const int most = *slots;
    int started = 0;
    while (started < most && (started < 2 || seconds_since(start) < kSeconds)) {
      begin(write, started++, block_.bytes());
      if (started > 1) wait(started - 2);
    }
    wait(started - 1);
    *slots = started;
    return static_cast<double>(started * block_.bytes()) / seconds_since(start);
  }

  // Seconds from the start of a small transfer to the end of its wait; the median.
  double small() {
    std::array<double, kSmallTransfers> seconds{};
    int count = 0;
    const Clock::time_point begun = Clock::now();
    while (count < kSmallTransfers && (count < 2 || seconds_since(begun) < kSeconds)) {
      const Clock::time_point start = Clock::now();
      begin(count % 2 == 0, 0, kSmallBytes);
      wait(0);
      seconds[static_cast<size_t>(count++)] = seconds_since(start);
    }
    std::sort(seconds.begin(), seconds.begin() + count);
    return seconds[static_cast<size_t>(count / 2)];
  }

 private:
  void begin(bool write, int slot, int64_t bytes) {
    if (write) {
      file_.start_write(slot, block_.data(), bytes);
    } else {
      file_.start_read(slot, block_.data(), bytes);
    }
  }
  void wait(int slot) {
    if (!file_.wait(slot)) throw Error("swap file", file_.error());
  }

  Block block_;
  SwapFile file_;  // ends before the block does
};

}  // namespace

Bandwidth measure_bandwidth(const std::string& folder, SwapOptions options) {
  options.capacity = std::max(options.capacity, 2);
  Measurement measurement(folder, options);
  int slots = measurement.slots();
  // The first write of a place is slower than those of all later steps.
  static_cast<void>(measurement.rate(true, &slots));
  Bandwidth bandwidth;
  bandwidth.write_bytes_per_second = measurement.rate(true, &slots);
  bandwidth.read_bytes_per_second = measurement.rate(false, &slots);
  bandwidth.seconds_per_transfer = measurement.small();
  return bandwidth;
}

}  // namespace thimble::exec
