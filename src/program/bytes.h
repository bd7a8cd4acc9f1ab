// Numbers and names as bytes of a file: little endian, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::program {

// FNV-1a of 64 bits: any change of a few bits changes it. Source: Fowler, Noll and Vo.
// first: the checksum of the bytes before these.
inline constexpr uint64_t kFirstChecksum = 0xcbf29ce484222325U;
[[nodiscard]] uint64_t checksum(std::span<const std::byte> bytes, uint64_t first = kFirstChecksum);

class ByteWriter {
 public:
  void number(int64_t value);
  void real(double value);
  void flag(bool value) { number(value ? 1 : 0); }
  // Throws Error where it is longer than readers take.
  void text(std::string_view text);
  void numbers(std::span<const int64_t> values);
  void raw(std::span<const std::byte> bytes);
  // Zeros up to a multiple.
  void align(size_t multiple);

  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Reads what a ByteWriter wrote. Every read names its field; what is not there or out of range is
// an Error naming file, offset and field.
class ByteReader {
 public:
  // bytes: must outlive the reader. first: where they begin in the file.
  ByteReader(std::string file, std::span<const std::byte> bytes, int64_t first)
      : file_(std::move(file)), window_(bytes), first_(first), size_(bytes.size()) {}
  // Bytes that stay in a file and are read in parts. read: fills what it is given with the bytes
  // from an offset of the file on.
  using Read = std::function<void(int64_t offset, std::span<std::byte> to)>;
  ByteReader(std::string file, int64_t first, int64_t bytes, Read read)
      : file_(std::move(file)),
        first_(first),
        size_(static_cast<size_t>(bytes)),
        read_(std::move(read)) {}

  // low to high.
  int64_t number(const char* field, int64_t low, int64_t high);
  double real(const char* field);
  bool flag(const char* field) { return number(field, 0, 1) == 1; }
  std::string text(const char* field);
  // A text that may be a name (ir/names.h).
  std::string name(const char* field);
  std::vector<int64_t> numbers(const char* field, int64_t low, int64_t high);
  // How many things follow, each of which takes at least so many bytes.
  size_t count(const char* field, size_t least_bytes);
  // Reads them straight to where they belong.
  void raw(const char* field, std::span<std::byte> to);
  // Fails unless so many bytes follow.
  void require(const char* field, int64_t bytes);
  // Skips to a multiple from the beginning of what is read.
  void align(size_t multiple);
  [[nodiscard]] bool at_end() const { return at_ == size_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  // Throws the Error that the field which was read last is wrong.
  [[noreturn]] void fail(const char* field, const std::string& what) const;

 private:
  // Valid until the next one.
  std::span<const std::byte> take(const char* field, size_t bytes);

  std::string file_;
  std::span<const std::byte> window_;  // the bytes that lie in memory
  size_t window_at_ = 0;               // where they begin
  int64_t first_;
  size_t size_;
  Read read_;                      // empty: all lie in memory
  std::vector<std::byte> buffer_;  // of the window
  size_t at_ = 0;
  size_t last_ = 0;  // where the last field began
};

}  // namespace thimble::program
