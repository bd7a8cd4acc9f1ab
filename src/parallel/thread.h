// A thread with a small stack of known size: memory limits count stacks as a whole.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <functional>

namespace thimble::parallel {

// Enough for every kernel, the readers of data and a user's callback.
inline constexpr int64_t kStackBytes = int64_t{1} << 20;

// Must be joined before it is destroyed or assigned to.
class Thread {
 public:
  Thread() = default;
  // Throws Error if the system cannot start a thread.
  explicit Thread(std::function<void()> run);
  ~Thread();
  Thread(Thread&& other) noexcept;
  Thread& operator=(Thread&& other) noexcept;

  [[nodiscard]] bool joinable() const { return running_; }
  void join();

 private:
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace thimble::parallel
