// A fixed set of worker threads that run numbered tasks. Starting a run allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace thimble::parallel {

// Thread safety: one run at a time, from one thread; tasks may not start runs and may not throw.
//
// Workers spin for some microseconds after a run, because the next one of a training step follows
// closely, then sleep. A run never waits for a worker that has not woken yet.
class ThreadPool {
 public:
  // threads: in all, the caller's own included; at least 1. 0 means one per processor.
  explicit ThreadPool(int threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const { return threads_; }

  // Runs task(0) ... task(tasks - 1), each once, in any order, and returns when all are done.
  // Tasks must not depend on the number of threads: equal results for 1 and N are the contract.
  // One task, or a pool of one thread, runs on the caller without any synchronisation.
  template <class F>
  void run(int64_t tasks, F&& task) {
    run_with_worker(tasks, [&task](int64_t i, int /*worker*/) { task(i); });
  }

  // Like run, but calls task(i, worker) with the number of the running thread in [0, threads()),
  // for private scratch memory.
  template <class F>
  void run_with_worker(int64_t tasks, F&& task) {
    using Task = std::remove_reference_t<F>;
    if (tasks <= 1 || threads_ == 1) {
      for (int64_t i = 0; i < tasks; ++i) task(i, 0);
      return;
    }
    dispatch(
        tasks,
        [](void* context, int64_t i, int worker) { (*static_cast<Task*>(context))(i, worker); },
        const_cast<void*>(static_cast<const void*>(&task)));
  }

 private:
  struct State;
  void dispatch(int64_t tasks, void (*call)(void* context, int64_t task, int worker),
                void* context);

  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace thimble::parallel
