#include "io/xxh64.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace thimble::io {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

// A little-endian number of so many bytes, whatever the processor.
template <size_t bytes>
uint64_t word(const std::byte* from) {
  uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, from, bytes);
  } else {
    for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint64_t>(from[i]) << (8 * i);
  }
  return value;
}

uint64_t with_lane(uint64_t sum, uint64_t lane) {
  return std::rotl(sum + lane * kPrime2, 31) * kPrime1;
}

}  // namespace

Xxh64::Xxh64() : sums_{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1} {}

void Xxh64::stripes(const std::byte* bytes, size_t count) {
  uint64_t a = sums_[0];
  uint64_t b = sums_[1];
  uint64_t c = sums_[2];
  uint64_t d = sums_[3];
  for (; count > 0; --count, bytes += kStripe) {
    a = with_lane(a, word<8>(bytes));
    b = with_lane(b, word<8>(bytes + 8));
    c = with_lane(c, word<8>(bytes + 16));
    d = with_lane(d, word<8>(bytes + 24));
  }
  sums_[0] = a;
  sums_[1] = b;
  sums_[2] = c;
  sums_[3] = d;
}

void Xxh64::update(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (rest_size_ > 0) {
    const size_t taken = std::min(kStripe - rest_size_, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_ + rest_size_);
    rest_size_ += taken;
    bytes = bytes.subspan(taken);
    if (rest_size_ < kStripe) return;
    stripes(rest_, 1);
  }
  const size_t whole = bytes.size() / kStripe;
  stripes(bytes.data(), whole);
  bytes = bytes.subspan(whole * kStripe);
  std::copy(bytes.begin(), bytes.end(), rest_);
  rest_size_ = bytes.size();
}

uint64_t Xxh64::value() const {
  uint64_t sum = kPrime5;
  if (size_ >= kStripe) {
    sum = std::rotl(sums_[0], 1) + std::rotl(sums_[1], 7) + std::rotl(sums_[2], 12) +
          std::rotl(sums_[3], 18);
    for (const uint64_t lanes : sums_) sum = (sum ^ with_lane(0, lanes)) * kPrime1 + kPrime4;
  }
  sum += size_;
  const std::byte* at = rest_;
  const std::byte* const end = rest_ + rest_size_;
  for (; end - at >= 8; at += 8) {
    sum = std::rotl(sum ^ with_lane(0, word<8>(at)), 27) * kPrime1 + kPrime4;
  }
  if (end - at >= 4) {
    sum = std::rotl(sum ^ (word<4>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at) sum = std::rotl(sum ^ (word<1>(at) * kPrime5), 11) * kPrime1;
  sum = (sum ^ (sum >> 33)) * kPrime2;
  sum = (sum ^ (sum >> 29)) * kPrime3;
  return sum ^ (sum >> 32);
}

std::string Xxh64::hex() const { return fmt::format("{:016x}", value()); }

}  // namespace thimble::io
