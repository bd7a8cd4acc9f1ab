#include "program/bytes.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ir/names.h"

namespace thimble::program {
namespace {

constexpr size_t kNumberBytes = 8;
constexpr int64_t kMostTextBytes = int64_t{1} << 20;
constexpr size_t kWindow = size_t{1} << 14;  // bytes that are read at once

std::array<std::byte, kNumberBytes> little_endian(uint64_t value) {
  std::array<std::byte, kNumberBytes> bytes{};
  for (size_t i = 0; i < kNumberBytes; ++i) bytes[i] = static_cast<std::byte>(value >> (8 * i));
  return bytes;
}

uint64_t from_little_endian(std::span<const std::byte> bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < kNumberBytes; ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes, uint64_t first) {
  uint64_t hash = first;
  for (const std::byte byte : bytes) {
    hash ^= static_cast<uint64_t>(byte);
    hash *= 0x100000001b3U;
  }
  return hash;
}

void ByteWriter::number(int64_t value) { raw(little_endian(static_cast<uint64_t>(value))); }

void ByteWriter::real(double value) { raw(little_endian(std::bit_cast<uint64_t>(value))); }

void ByteWriter::text(std::string_view text) {
  if (text.size() > static_cast<size_t>(kMostTextBytes)) {
    throw Error("program", fmt::format("a text of {} bytes is longer than a program file holds, "
                                       "{} bytes: it begins with \"{}\"",
                                       text.size(), kMostTextBytes, text.substr(0, 40)));
  }
  number(static_cast<int64_t>(text.size()));
  raw(std::as_bytes(std::span(text)));
}

void ByteWriter::numbers(std::span<const int64_t> values) {
  number(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) number(value);
}

void ByteWriter::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

void ByteWriter::align(size_t multiple) {
  bytes_.resize((bytes_.size() + multiple - 1) / multiple * multiple, std::byte{0});
}

void ByteReader::fail(const char* field, const std::string& what) const {
  throw Error(file_, fmt::format("{} at byte {} {}; the file is damaged, or was made by another "
                                 "version: compile the program again",
                                 field, first_ + static_cast<int64_t>(last_), what));
}

std::span<const std::byte> ByteReader::take(const char* field, size_t bytes) {
  require(field, static_cast<int64_t>(bytes));
  const size_t from = at_;
  at_ += bytes;
  if (read_ && (from < window_at_ || at_ > window_at_ + window_.size())) {
    buffer_.resize(std::max(bytes, std::min(kWindow, size_ - from)));
    read_(first_ + static_cast<int64_t>(from), buffer_);
    window_ = buffer_;
    window_at_ = from;
  }
  return window_.subspan(from - window_at_, bytes);
}

void ByteReader::require(const char* field, int64_t bytes) {
  last_ = at_;
  if (bytes < 0) fail(field, "has less than no bytes");
  if (static_cast<uint64_t>(bytes) > size_ - at_) {
    fail(field, "reaches past the end of its section");
  }
}

int64_t ByteReader::number(const char* field, int64_t low, int64_t high) {
  const auto value = static_cast<int64_t>(from_little_endian(take(field, kNumberBytes)));
  if (value < low || value > high) {
    fail(field, fmt::format("is {}, expected {} to {}", value, low, high));
  }
  return value;
}

double ByteReader::real(const char* field) {
  return std::bit_cast<double>(from_little_endian(take(field, kNumberBytes)));
}

std::string ByteReader::text(const char* field) {
  const int64_t size = number(field, 0, kMostTextBytes);
  const std::span<const std::byte> bytes = take(field, static_cast<size_t>(size));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string ByteReader::name(const char* field) {
  std::string name = text(field);
  const std::string wrong = ir::name_error(name);
  if (!wrong.empty()) fail(field, wrong);
  return name;
}

size_t ByteReader::count(const char* field, size_t least_bytes) {
  const auto most = static_cast<int64_t>((size_ - at_) / std::max<size_t>(1, least_bytes));
  return static_cast<size_t>(number(field, 0, most));
}

std::vector<int64_t> ByteReader::numbers(const char* field, int64_t low, int64_t high) {
  std::vector<int64_t> values(count(field, kNumberBytes));
  for (int64_t& value : values) value = number(field, low, high);
  return values;
}

void ByteReader::raw(const char* field, std::span<std::byte> to) {
  require(field, static_cast<int64_t>(to.size()));
  const size_t from = std::exchange(at_, at_ + to.size());
  if (to.empty()) return;
  if (read_) return read_(first_ + static_cast<int64_t>(from), to);
  std::memcpy(to.data(), window_.data() + from, to.size());
}

void ByteReader::align(size_t multiple) {
  const size_t padding = (multiple - at_ % multiple) % multiple;
  static_cast<void>(take("padding", padding));
}

}  // namespace thimble::program
