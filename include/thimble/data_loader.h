// Batches over a data set, in shuffled order, read ahead by a thread.
#pragma once

#include <thimble/data.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace thimble::data {

// Changes a sample in place after it was read; fields as in Source::read. `random` is a function
// of (seed, epoch, sample index): derive every random choice from it. Called by one thread.
using Augment = std::function<void(uint64_t random, std::span<void* const> fields)>;

struct LoaderOptions {
  int64_t batch = 32;      // samples per batch
  bool shuffle = true;     // a new order every epoch
  uint64_t seed = 0;       // of the order and of the augmentation
  bool training = true;    // change samples as data::augmented() asks
  bool drop_last = false;  // leave out a last batch of fewer samples
  int prefetch = 2;        // batches read ahead by a thread; 0 reads in next()
  Augment augment = {};    // may be empty
};

struct Batch {
  int64_t number = 0;  // in its epoch, from 0
  int64_t first = 0;   // position of its first sample in the epoch's order
  int64_t count = 0;   // samples in it: options.batch, fewer in the last one
  // One per field of the data set: [options.batch, field shape], row-major, 64-byte aligned.
  // Rows past count are zero.
  std::vector<void*> fields;
};

// The order in which epoch `epoch` visits the samples 0 .. size-1: a Fisher-Yates shuffle that is
// a function of its arguments alone, the same on every platform.
[[nodiscard]] std::vector<int64_t> epoch_order(int64_t size, uint64_t seed, int64_t epoch);

// Reads a data set batch by batch. The batches are a function of (data set, options, epoch) alone:
// neither prefetch nor the start position changes what batch b of epoch e holds. Allocates in the
// constructor only. Thread safety: use from one thread.
class Loader {
 public:
  // Throws Error on a batch below 1, a negative prefetch, or a set without one whole batch when
  // drop_last is set.
  explicit Loader(Dataset dataset, LoaderOptions options = {});
  ~Loader();
  Loader(Loader&&) noexcept;
  Loader& operator=(Loader&&) noexcept;

  // Batches of one epoch.
  [[nodiscard]] int64_t batches() const;
  // Begins epoch `epoch` at batch `first_batch` (0 .. batches()), at any time; what next() returned
  // before becomes invalid.
  void start(int64_t epoch, int64_t first_batch = 0);
  // The next batch, or nullptr at the end of the epoch and before the first start(). Valid until
  // the next call of next() or start(). Rethrows what reading the batch threw; after that only
  // start() goes on.
  [[nodiscard]] const Batch* next();
  // Memory of the input pipeline: the batch buffers, the order, and the samples of the data set.
  [[nodiscard]] int64_t bytes() const;
  [[nodiscard]] const Dataset& dataset() const;
  [[nodiscard]] const LoaderOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace thimble::data
