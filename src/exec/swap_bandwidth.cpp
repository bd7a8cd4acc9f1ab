// Measures the bandwidth of a swap file in a folder.
#include <thimble/error.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "exec/clock.h"
#include "exec/memory.h"
#include "exec/swap_disk.h"
#include "exec/swap_file.h"

namespace thimble::exec {
namespace {

constexpr int64_t kFileBytes = int64_t{8} << 20;  // smaller if the disk lacks the space
constexpr int64_t kLeastSlots = 2;
// Size of a transfer; it is cut into chunks, several of which are in progress at once.
constexpr int64_t kMostChunkBytes = int64_t{1} << 20;
constexpr int kChunks = 4;
constexpr double kProbeSeconds = 0.04;  // for each part of the measurement
constexpr int64_t kSmallBytes = 1;      // a minimal transfer: one block of the disk

class Measurement {
 public:
  // block_bytes: the size of a transfer.
  Measurement(const std::string& folder, const SwapOptions& options, int64_t block_bytes, int slots)
      : slots_(slots),
        block_(block_bytes),
        file_(folder, std::vector<int64_t>(static_cast<size_t>(slots), block_bytes), options) {}

  // Bytes per second.
  double rate(bool write) {
    return static_cast<double>(block_.bytes()) / seconds_each(write, block_.bytes());
  }

  // Seconds that a small transfer adds to the time of earlier transfers.
  double small() {
    return (seconds_each(true, kSmallBytes) + seconds_each(false, kSmallBytes)) / 2;
  }

 private:
  // Seconds of each transfer of the first slots: as many as time allows, and for reads as many as
  // were written. The next transfer is queued while one runs, as in a training step.
  double seconds_each(bool write, int64_t bytes) {
    const Clock::time_point start = Clock::now();
    const int most = write ? slots_ : written_;
    int started = 0;
    while (started < most && (started < 2 || seconds_since(start) < kProbeSeconds)) {
      begin(write, started++, bytes);
      if (started > 1) wait(started - 2);
    }
    wait(started - 1);
    if (write) written_ = started;
    return seconds_since(start) / started;
  }

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

  int slots_;
  Block block_;
  SwapFile file_;    // destroyed before the block
  int written_ = 0;  // slots written by the last measurement
};

int64_t block_bytes(const SwapOptions& options) {
  return std::clamp(kChunks * options.buffer_bytes, kSwapBlock, kMostChunkBytes);
}

std::unique_ptr<Measurement> largest(const std::string& folder, const SwapOptions& options) {
  const int64_t block = block_bytes(options);
  for (int64_t slots = kFileBytes / block;; slots /= 2) {
    try {
      return std::make_unique<Measurement>(folder, options, block, static_cast<int>(slots));
    } catch (const Error&) {
      if (slots / 2 < kLeastSlots) throw;
    }
  }
}

}  // namespace

int64_t measuring_bytes(const SwapOptions& options) {
  return SwapFile::staging_bytes(options) + block_bytes(options);
}

Bandwidth measure_bandwidth(const std::string& folder, SwapOptions options) {
  options.capacity = std::max(options.capacity, 2);
  const std::unique_ptr<Measurement> file = largest(folder, options);
  Measurement& measurement = *file;
  // The first write to a place in the file is slower than later ones.
  static_cast<void>(measurement.rate(true));
  Bandwidth bandwidth;
  bandwidth.write_bytes_per_second = measurement.rate(true);
  bandwidth.read_bytes_per_second = measurement.rate(false);
  bandwidth.seconds_per_transfer = measurement.small();
  return bandwidth;
}

}  // namespace thimble::exec
