#include <thimble/data_loader.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>

#include "data/batch_reader.h"
#include "exec/accounting.h"
#include "parallel/thread.h"

namespace thimble::data {
namespace {

struct FreeAligned {
  void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{kBatchAlignment}); }
};
using Buffer = std::unique_ptr<std::byte[], FreeAligned>;

}  // namespace

// A ring of batches: batch b lies in slot b % ring.size(). The thread fills the slots behind
// `filled`; the caller holds the one slot before `taken`.
struct Loader::State {
  State(Dataset dataset, LoaderOptions options)
      : held(loader_bytes(dataset, options)),
        reader(std::move(dataset), std::move(options)),
        ring(static_cast<size_t>(reader.options().prefetch) + 1) {
    const auto slot_bytes = static_cast<size_t>(reader.batch_bytes());
    buffer.reset(static_cast<std::byte*>(
        ::operator new (slot_bytes* ring.size(), std::align_val_t{kBatchAlignment})));
    for (size_t slot = 0; slot < ring.size(); ++slot) {
      reader.place(buffer.get() + slot * slot_bytes, ring[slot]);
    }
    if (reader.options().prefetch > 0) {
      thread = parallel::Thread([this] { fill_ring(); });
    }
  }

  ~State() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      quit = true;
    }
    changed.notify_all();
    thread.join();
  }

  Batch& slot(int64_t number) { return ring[static_cast<size_t>(number) % ring.size()]; }

  // True if the thread has a batch to read and a slot that the caller does not hold.
  bool has_work() const {
    const int64_t held = std::max<int64_t>(taken - 1, first);
    return !error && filled < end && filled - held < static_cast<int64_t>(ring.size());
  }

  void fill_ring() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return quit || has_work(); });
      if (quit) return;
      reading = true;
      const int64_t number = filled;
      lock.unlock();
      std::exception_ptr thrown;
      try {
        reader.read(number, slot(number));
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      reading = false;
      error = thrown;
      if (!error) ++filled;
      changed.notify_all();
    }
  }

  void start(int64_t epoch, int64_t first_batch) {
    std::unique_lock lock(mutex);
    end = 0;  // the thread finds no further work
    changed.wait(lock, [this] { return !reading; });
    reader.start(epoch);
    error = nullptr;
    first = taken = filled = first_batch;
    end = reader.batches();
    lock.unlock();
    changed.notify_all();
  }

  const Batch* next() {
    std::unique_lock lock(mutex);
    if (!thread.joinable()) return read_now();
    changed.wait(lock, [this] { return taken < filled || taken >= end || error; });
    if (taken < filled) {
      const Batch* batch = &slot(taken++);
      lock.unlock();
      changed.notify_all();  // the slot held before is free
      return batch;
    }
    if (error) std::rethrow_exception(error);
    return nullptr;
  }

  const Batch* read_now() {
    if (error) std::rethrow_exception(error);
    if (taken >= end) return nullptr;
    try {
      reader.read(taken, ring[0]);
    } catch (...) {
      error = std::current_exception();
      throw;
    }
    ++taken;
    return &ring[0];
  }

  exec::Held held;
  BatchReader reader;
  Buffer buffer;
  std::vector<Batch> ring;

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  int64_t first = 0;   // batch the epoch was started at
  int64_t taken = 0;   // batches below were handed to the caller
  int64_t filled = 0;  // batches below are read
  int64_t end = 0;     // batches of the epoch
  bool reading = false;
  bool quit = false;
  std::exception_ptr error;
  parallel::Thread thread;  // none without prefetch
};

Loader::Loader(Dataset dataset, LoaderOptions options)
    : state_(std::make_unique<State>(std::move(dataset), std::move(options))) {}
Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

int64_t Loader::batches() const { return state_->reader.batches(); }

void Loader::start(int64_t epoch, int64_t first_batch) {
  if (first_batch < 0 || first_batch > batches()) {
    throw Error("loader",
                fmt::format("start at batch {}; an epoch has {}", first_batch, batches()));
  }
  state_->start(epoch, first_batch);
}

const Batch* Loader::next() { return state_->next(); }

int64_t Loader::bytes() const {
  const BatchReader& reader = state_->reader;
  return reader.dataset().bytes() + reader.order_bytes() +
         static_cast<int64_t>(state_->ring.size()) * reader.batch_bytes();
}

const Dataset& Loader::dataset() const { return state_->reader.dataset(); }
const LoaderOptions& Loader::options() const { return state_->reader.options(); }

}  // namespace thimble::data
