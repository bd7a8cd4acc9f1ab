// A fixed set of worker threads that run numbered tasks. Starting a run allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace thimble::exec {

// A non-owning reference to a callable `void(int64_t task)`; valid while the callable lives.
class TaskRef {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, TaskRef>)
  TaskRef(F&& f)  // NOLINT: implicit by design
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, int64_t task) {
          (*static_cast<std::remove_reference_t<F>*>(object))(task);
        }) {}
  void operator()(int64_t task) const { call_(object_, task); }

 private:
  void* object_;
  void (*call_)(void*, int64_t);
};

// Thread safety: one run at a time, from one thread.
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
  void run(int64_t tasks, TaskRef task);

  // Like run, with the number of the running thread in [0, threads()) for private scratch memory.
  void run_with_worker(int64_t tasks, void (*call)(void* context, int64_t task, int worker),
                       void* context);

 private:
  struct State;
  int threads_;
  std::unique_ptr<State> state_;
};

}  // namespace thimble::exec
