// Counts the working memory that the library holds: blocks of tensors and what loaders read into.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace thimble::exec {

// Bytes held now, and at most so far. Thread-safe.
class Account {
 public:
  // bytes: below zero where they are given back.
  void add(int64_t bytes);
  [[nodiscard]] int64_t held() const { return held_.load(std::memory_order_relaxed); }
  [[nodiscard]] int64_t peak() const { return peak_.load(std::memory_order_relaxed); }
  // What was held at most counts from now on.
  void forget_peak() { peak_.store(held(), std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
};

// While it stands, what this thread takes is counted in the account; of two the inner one counts.
class Counting {
 public:
  explicit Counting(std::shared_ptr<Account> account);
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

 private:
  std::shared_ptr<Account> outer_;
};

// So many bytes, counted until it goes in the account that was open on this thread when it was
// made; where none was, nowhere. Make it before the memory is taken.
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
