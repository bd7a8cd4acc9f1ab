#include "exec/accounting.h"

#include <utility>

namespace thimble::exec {
namespace {

std::shared_ptr<Account>& open_account() {
  thread_local std::shared_ptr<Account> account;
  return account;
}

}  // namespace

void Account::add(int64_t bytes) {
  const int64_t held = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (held > peak && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
}

Counting::Counting(std::shared_ptr<Account> account)
    : outer_(std::exchange(open_account(), std::move(account))) {}

Counting::~Counting() { open_account() = std::move(outer_); }

Held::Held(int64_t bytes) : account_(open_account()), bytes_(bytes) {
  if (account_) account_->add(bytes_);
}

Held::~Held() {
  if (account_) account_->add(-bytes_);
}

Held::Held(Held&& other) noexcept
    : account_(std::move(other.account_)), bytes_(std::exchange(other.bytes_, 0)) {}

Held& Held::operator=(Held&& other) noexcept {
  if (this == &other) return *this;
  if (account_) account_->add(-bytes_);
  account_ = std::move(other.account_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

}  // namespace thimble::exec
