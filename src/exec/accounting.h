// Counts the working memory of the library: memory blocks of tensors, and read buffers of loaders.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace thimble::exec {

// Counts bytes in use: now, and at the peak. Thread-safe.
class Account {
 public:
  // bytes: negative when memory is freed.
  void add(int64_t bytes);
  [[nodiscard]] int64_t held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // Restarts the peak from what is held now.
  void forget_peak() { peak_.store(held(), std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
};

// While the object lives, allocations of this thread are counted in the account. Nested objects:
// the innermost one counts.
class Counting {
 public:
  explicit Counting(std::shared_ptr<Account> account);
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  std::shared_ptr<Account> outer_;
};

// Counts some bytes while the object lives, in the account that was open on this thread at
// construction; in none if none was open. Construct it before the memory is allocated.
class Held {
 public:
  Held() = default;
  explicit Held(int64_t bytes);
  ~Held();
  Held(Held&& other) noexcept;
  Held& operator=(Held&& other) noexcept;

 private:
  std::shared_ptr<Account> account_;
  int64_t bytes_ = 0;
};

}  // namespace thimble::exec
