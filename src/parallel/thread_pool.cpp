#include "parallel/thread_pool.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "parallel/thread.h"

namespace thimble::parallel {
namespace {

// Longer than the serial part between two parallel kernels of a small model, shorter than another
// process on the machine would notice.
constexpr std::chrono::microseconds kSpinTime{20};
constexpr int kSpinsPerClockRead = 32;

// The gate of a run: this bit while workers may enter, plus the number of workers inside.
constexpr uint32_t kOpen = 1u << 31;

// Busy-waits until done() or until the time is over; returns done().
template <class Done>
bool spin_until(std::chrono::microseconds time, Done done) {
  if (done()) return true;
  if (time.count() == 0) return false;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      hwy::Pause();
      if (done()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace

struct ThreadPool::State {
  // The job: written by the caller while the gate is closed and empty, read by workers inside.
  void (*call)(void*, int64_t, int) = nullptr;
  void* context = nullptr;
  int64_t tasks = 0;

  alignas(64) std::atomic<int64_t> next{0};    // the first task that no thread has taken
  alignas(64) std::atomic<uint32_t> gate{0};   // see kOpen; the caller sleeps on it
  alignas(64) std::atomic<uint32_t> epoch{0};  // counts runs; workers sleep on it
  std::atomic<bool> stop{false};
  std::chrono::microseconds spin_time{kSpinTime};
  std::vector<Thread> workers;

  void work(int worker) {
    for (;;) {
      const int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks) return;
      call(context, task, worker);
    }
  }

  // Enters the open run, if any, and helps. A worker that comes too late finds the gate closed; the
  // caller can finish alone.
  void help(int worker) {
    uint32_t seen = gate.load(std::memory_order_relaxed);
    while (seen & kOpen) {
      if (!gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        continue;
      }
      work(worker);
      if (gate.fetch_sub(1, std::memory_order_release) == 1) gate.notify_one();
      return;
    }
  }

  void worker_loop(int worker) {
    uint32_t seen = 0;
    for (;;) {
      const auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
      while (!spin_until(spin_time, changed)) epoch.wait(seen, std::memory_order_acquire);
      seen = epoch.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_relaxed)) return;
      help(worker);
    }
  }

  void end() {
    stop.store(true, std::memory_order_relaxed);
    epoch.fetch_add(1, std::memory_order_release);
    epoch.notify_all();
    for (Thread& worker : workers) worker.join();
  }
};

ThreadPool::ThreadPool(int threads) : threads_(threads), state_(std::make_unique<State>()) {
  const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  if (threads_ <= 0) threads_ = processors;
  // With more threads than processors, a spinning thread keeps another one from working.
  if (threads_ > processors) state_->spin_time = std::chrono::microseconds{0};
  try {
    for (int worker = 1; worker < threads_; ++worker) {
      state_->workers.emplace_back([state = state_.get(), worker] { state->worker_loop(worker); });
    }
  } catch (...) {  // the threads that did start must end
    state_->end();
    throw;
  }
}

ThreadPool::~ThreadPool() { state_->end(); }

void ThreadPool::dispatch(int64_t tasks, void (*call)(void*, int64_t, int), void* context) {
  State& state = *state_;
  state.call = call;
  state.context = context;
  state.tasks = tasks;
  state.next.store(0, std::memory_order_relaxed);
  state.gate.store(kOpen, std::memory_order_release);
  state.epoch.fetch_add(1, std::memory_order_release);
  state.epoch.notify_all();

  state.work(0);

  uint32_t inside = state.gate.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;
  const auto empty = [&] { return (inside = state.gate.load(std::memory_order_acquire)) == 0; };
  while (!spin_until(state.spin_time, empty)) state.gate.wait(inside, std::memory_order_acquire);
}

}  // namespace thimble::parallel
