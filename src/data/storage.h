// Where the bytes of samples lie: in memory, or in a file from which they are read when wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace thimble::data {

// Immutable bytes. Thread-safe.
class Storage {
 public:
  virtual ~Storage() = default;
  [[nodiscard]] virtual int64_t size() const = 0;
  // Of the size, what is held in memory.
  [[nodiscard]] virtual int64_t memory_bytes() const = 0;
  // The bytes from offset on; the caller keeps within size(). Throws Error where a file cannot be
  // read, or is no longer as long as it was.
  virtual void read(int64_t offset, std::span<std::byte> to) const = 0;
  // Null where they do not lie in memory.
  [[nodiscard]] virtual const std::byte* data() const { return nullptr; }
};

using StoragePtr = std::shared_ptr<const Storage>;

[[nodiscard]] StoragePtr in_memory(std::vector<std::byte> bytes);

// A regular file; a small one is read at once, another stays open and must not change. Throws
// NotFound if it is missing, Error if it is not a regular file or cannot be opened.
[[nodiscard]] StoragePtr in_file(const std::string& path);

// The bytes offset to offset + size - 1 of another storage, which has them.
[[nodiscard]] StoragePtr part_of(StoragePtr whole, int64_t offset, int64_t size);

// Takes bytes one after the other. Few stay in memory; more go to a file without a name in the
// folder for temporary files, which nobody else can read and which is gone with the program. Where
// there can be no such file they stay in memory, too.
class Spill {
 public:
  Spill() = default;
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  void append(std::span<const std::byte> bytes);
  [[nodiscard]] int64_t size() const { return written_ + static_cast<int64_t>(held_.size()); }
  [[nodiscard]] StoragePtr finish();

 private:
  [[nodiscard]] bool flush();

  std::vector<std::byte> held_;
  int file_ = -1;
  int64_t written_ = 0;
  bool stays_ = false;  // in memory: there is no file to be had
};

}  // namespace thimble::data
