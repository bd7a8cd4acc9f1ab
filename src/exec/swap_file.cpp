#include "exec/swap_file.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "exec/memory.h"
#include "exec/swap_pipe.h"
#include "parallel/thread.h"
#include "plan/arena.h"

namespace thimble::exec {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = SwapFailure::Kind;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void check(const std::vector<int64_t>& slot_bytes, const SwapOptions& options) {
  const auto need = [](bool fine, const std::string& message) {
    if (!fine) throw Error("swap file", message);
  };
  need(options.buffer_bytes >= kSwapBlock && options.buffer_bytes % kSwapBlock == 0,
       fmt::format("buffer_bytes is {}; it must be a multiple of {}", options.buffer_bytes,
                   kSwapBlock));
  need(options.buffers >= 1, fmt::format("buffers is {}; give 1 or more", options.buffers));
  need(options.capacity >= 1, fmt::format("capacity is {}; give 1 or more", options.capacity));
  for (const int64_t bytes : slot_bytes) {
    need(bytes >= 0, fmt::format("a slot has {} bytes; give 0 or more", bytes));
  }
}

// The first aligned byte of the staging block.
std::byte* aligned_start(const Block& block) {
  const auto address = reinterpret_cast<uintptr_t>(block.data());
  return block.data() + (kSwapBlock - address % kSwapBlock) % kSwapBlock;
}

std::unique_ptr<SwapIo> make_io(const SwapDisk& disk, const SwapOptions& options) {
  std::unique_ptr<SwapIo> io;
  if (options.engine != SwapEngine::blocking) io = make_uring_io(disk, options);
  if (io == nullptr && options.engine == SwapEngine::uring) {
    throw Error("swap file", fmt::format("io_uring is not to be had for direct transfers in {}; "
                                         "leave the choice of the engine to the swap file",
                                         disk.folder()));
  }
  return io != nullptr ? std::move(io) : make_blocking_io(disk, options);
}

struct Queued {
  SwapTransfer transfer;
  int64_t begin;  // where the next chunk begins
};

}  // namespace

struct SwapFile::State {
  State(const std::string& folder, const std::vector<int64_t>& slot_bytes, const Options& options);
  ~State();

  void add(const SwapTransfer& transfer);
  [[nodiscard]] Kind misuse(const SwapTransfer& transfer, int64_t* limit) const;
  void fail(const SwapFailure& why);
  [[nodiscard]] bool wait(int slot);

  // The body of the thread: runs until stopped or until something fails.
  void work();
  [[nodiscard]] bool take(Queued* next);
  void done(const SwapTransfer& transfer);

  SwapLayout layout;
  std::shared_ptr<Block> block;
  SwapDisk disk;
  std::unique_ptr<SwapIo> io;
  std::atomic<bool> stop{false};
  SwapPipe pipe;

  const size_t capacity;
  mutable std::mutex mutex;
  std::condition_variable added;     // signals the thread
  std::condition_variable finished;  // signals wait()
  // Guarded by the mutex.
  std::vector<Queued> queue;  // by start time; never longer than capacity
  std::vector<int> pending;   // unfinished transfers, by slot
  SwapFailure failure;
  bool has_ended = false;  // the thread has ended and touches no memory of the caller any more
  bool is_busy = false;
  Clock::time_point busy_since;
  SwapCounters counters;

  parallel::Thread thread;
};

SwapFile::State::State(const std::string& folder, const std::vector<int64_t>& slot_bytes,
                       const Options& options)
    : layout(slot_bytes, options.buffer_bytes),
      block(options.staging != nullptr ? options.staging
                                       : std::make_shared<Block>(staging_bytes(options))),
      disk(folder.empty() ? default_folder() : folder, std::max(layout.file_bytes, kSwapBlock),
           options.direct, aligned_start(*block)),
      io(make_io(disk, options)),
      pipe(*io, layout, aligned_start(*block), options, stop,
           [this](const SwapTransfer& transfer) { done(transfer); }),
      capacity(static_cast<size_t>(options.capacity)),
      pending(slot_bytes.size(), 0) {
  queue.reserve(capacity);
  thread = parallel::Thread([this] { work(); });
}

SwapFile::State::~State() {
  {
    const std::lock_guard lock(mutex);
    stop.store(true, std::memory_order_relaxed);
  }
  added.notify_all();
  thread.join();
}

Kind SwapFile::State::misuse(const SwapTransfer& transfer, int64_t* limit) const {
  const auto slots = static_cast<int64_t>(layout.slot_bytes.size());
  *limit = slots;
  if (transfer.slot < 0 || transfer.slot >= slots) return Kind::no_such_slot;
  *limit = layout.slot_bytes[static_cast<size_t>(transfer.slot)];
  if (transfer.bytes < 0 || transfer.bytes > *limit) return Kind::beyond_slot;
  *limit = static_cast<int64_t>(capacity);
  return queue.size() == capacity ? Kind::full_queue : Kind::none;
}

void SwapFile::State::add(const SwapTransfer& transfer) {
  {
    const std::lock_guard lock(mutex);
    if (failure.kind != Kind::none) return;
    int64_t limit = 0;
    const Kind wrong = misuse(transfer, &limit);
    if (wrong == Kind::none) {
      queue.push_back({transfer, 0});
      ++pending[static_cast<size_t>(transfer.slot)];
    } else {
      fail({wrong, transfer, {}, 0, limit});
    }
  }
  added.notify_one();
}

// Call with the mutex held. Only the first failure is reported.
void SwapFile::State::fail(const SwapFailure& why) {
  if (failure.kind == Kind::none) failure = why;
  stop.store(true, std::memory_order_relaxed);
  added.notify_one();
}

bool SwapFile::State::wait(int slot) {
  std::unique_lock lock(mutex);
  const auto slots = static_cast<int64_t>(pending.size());
  if (slot < 0 || slot >= slots)
    fail({Kind::no_such_slot, {slot, false, nullptr, 0}, {}, 0, slots});
  const auto is_over = [&] {
    return failure.kind == Kind::none ? pending[static_cast<size_t>(slot)] == 0 : has_ended;
  };
  if (!is_over()) {
    const Clock::time_point start = Clock::now();
    finished.wait(lock, is_over);
    counters.stall_ms += ms_since(start);
  }
  return failure.kind == Kind::none;
}

// Takes the next chunk of the most urgent transfer; meanwhile finishes those in progress. False:
// stopped, or failed.
bool SwapFile::State::take(Queued* next) {
  std::unique_lock lock(mutex);
  for (;;) {
    if (stop.load(std::memory_order_relaxed)) return false;
    // The most urgent transfer is chosen when a buffer is free for it.
    if (!queue.empty() && !pipe.full()) break;
    if (pipe.idle()) {
      if (is_busy) counters.busy_ms += ms_since(busy_since);
      is_busy = false;
      added.wait(lock);
    } else {
      lock.unlock();
      if (!pipe.finish_oldest()) return false;
      lock.lock();
    }
  }
  const auto urgent = std::min_element(
      queue.begin(), queue.end(),
      [](const Queued& a, const Queued& b) { return a.transfer.deadline < b.transfer.deadline; });
  const auto taken = std::find_if(queue.begin(), urgent, [urgent](const Queued& earlier) {
    return earlier.transfer.slot == urgent->transfer.slot;
  });
  *next = *taken;
  taken->begin += pipe.chunk_bytes();
  if (taken->begin >= taken->transfer.bytes) queue.erase(taken);
  if (!is_busy) busy_since = Clock::now();
  is_busy = true;
  return true;
}

void SwapFile::State::done(const SwapTransfer& transfer) {
  const std::lock_guard lock(mutex);
  --pending[static_cast<size_t>(transfer.slot)];
  (transfer.write ? counters.written_bytes : counters.read_bytes) += transfer.bytes;
  finished.notify_all();
}

void SwapFile::State::work() {
  Queued next{};
  while (take(&next) && pipe.start(next.transfer, next.begin)) {
  }
  pipe.abandon();
  const std::lock_guard lock(mutex);
  if (failure.kind == Kind::none) failure = pipe.failure();
  if (is_busy) counters.busy_ms += ms_since(busy_since);
  is_busy = false;
  has_ended = true;
  finished.notify_all();
}

SwapFile::SwapFile(const std::string& folder, const std::vector<int64_t>& slot_bytes,
                   const Options& options) {
  check(slot_bytes, options);
  state_ = std::make_unique<State>(folder, slot_bytes, options);
}

SwapFile::~SwapFile() = default;

int64_t SwapFile::staging_bytes(const Options& options) {
  return options.buffers * options.buffer_bytes + kSwapBlock - plan::kAlignment;
}

std::shared_ptr<Block> SwapFile::staging() const { return state_->block; }

std::string SwapFile::default_folder() { return default_swap_folder(); }

std::string SwapFile::why_not(const std::string& folder, int64_t bytes) {
  return why_no_swap(folder.empty() ? default_swap_folder() : folder, bytes);
}

void SwapFile::start_write(int slot, const void* data, int64_t bytes, int64_t deadline) {
  state_->add({slot, true, static_cast<std::byte*>(const_cast<void*>(data)), bytes, deadline});
}

void SwapFile::start_read(int slot, void* data, int64_t bytes, int64_t deadline) {
  state_->add({slot, false, static_cast<std::byte*>(data), bytes, deadline});
}

bool SwapFile::wait(int slot) { return state_->wait(slot); }

std::string SwapFile::error() const {
  const std::lock_guard lock(state_->mutex);
  return describe(state_->failure, state_->disk.folder());
}

SwapCounters SwapFile::counters() const {
  const std::lock_guard lock(state_->mutex);
  SwapCounters counters = state_->counters;
  if (state_->is_busy) counters.busy_ms += ms_since(state_->busy_since);
  return counters;
}

void SwapFile::reset_counters() {
  const std::lock_guard lock(state_->mutex);
  state_->counters = {};
  state_->busy_since = Clock::now();
}

int64_t SwapFile::file_bytes() const { return state_->layout.file_bytes; }
bool SwapFile::is_direct() const { return state_->disk.direct(); }
bool SwapFile::uses_uring() const { return state_->io->is_uring(); }

}  // namespace thimble::exec
