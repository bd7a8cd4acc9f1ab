#include "data/storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <thimble/error.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "data/file.h"

namespace thimble::data {
namespace {

constexpr size_t kFewBytes = size_t{64} << 10;

class MemoryStorage final : public Storage {
 public:
  explicit MemoryStorage(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  int64_t memory_bytes() const override { return size(); }
  void read(int64_t offset, std::span<std::byte> to) const override {
    std::copy_n(bytes_.begin() + offset, to.size(), to.begin());
  }
  const std::byte* data() const override { return bytes_.data(); }

 private:
  std::vector<std::byte> bytes_;
};

class PartStorage final : public Storage {
 public:
  PartStorage(StoragePtr whole, int64_t offset, int64_t size)
      : whole_(std::move(whole)), offset_(offset), size_(size) {}
  int64_t size() const override { return size_; }
  int64_t memory_bytes() const override { return whole_->data() == nullptr ? 0 : size_; }
  void read(int64_t offset, std::span<std::byte> to) const override {
    whole_->read(offset_ + offset, to);
  }
  const std::byte* data() const override {
    return whole_->data() == nullptr ? nullptr : whole_->data() + offset_;
  }

 private:
  StoragePtr whole_;
  int64_t offset_;
  int64_t size_;
};

// Where it ends early, how many bytes there were.
size_t read_at(int file, std::span<std::byte> to, int64_t offset) {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::pread(file, to.data() + done, to.size() - done,
                                  static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

class FileStorage final : public Storage {
 public:
  // Takes over the open file.
  FileStorage(std::string name, int file, int64_t size)
      : name_(std::move(name)), file_(file), size_(size) {}
  ~FileStorage() override { ::close(file_); }
  int64_t size() const override { return size_; }
  int64_t memory_bytes() const override { return 0; }
  void read(int64_t offset, std::span<std::byte> to) const override {
    errno = 0;
    const size_t count = read_at(file_, to, offset);
    if (count == to.size()) return;
    throw Error(name_, fmt::format("cannot be read past byte {} of {}: {}",
                                   offset + static_cast<int64_t>(count), size_,
                                   errno != 0 ? std::strerror(errno) : "it has become shorter"));
  }

 private:
  std::string name_;
  int file_;
  int64_t size_;
};

// An open file without a name, or -1.
int unnamed_file() {
  const char* const named = std::getenv("TMPDIR");
  std::string path = std::string(named != nullptr && *named != '\0' ? named : "/tmp");
  path += "/thimble-XXXXXX";
  const int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) ::unlink(path.c_str());
  return file;
}

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return true;
}

}  // namespace

StoragePtr in_memory(std::vector<std::byte> bytes) {
  return std::make_shared<MemoryStorage>(std::move(bytes));
}

StoragePtr part_of(StoragePtr whole, int64_t offset, int64_t size) {
  return std::make_shared<PartStorage>(std::move(whole), offset, size);
}

StoragePtr in_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR))
    throw NotFound(path, "no such file; check the path");
  if (file < 0) throw Error(path, "cannot be opened; check its permissions");
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    throw Error(path, "is not a regular file");
  }
  auto storage = std::make_shared<FileStorage>(path, file, static_cast<int64_t>(status.st_size));
  if (storage->size() > static_cast<int64_t>(kFewBytes)) return storage;
  std::vector<std::byte> bytes(static_cast<size_t>(storage->size()));
  storage->read(0, bytes);
  return in_memory(std::move(bytes));
}

Spill::~Spill() {
  if (file_ >= 0) ::close(file_);
}

void Spill::append(std::span<const std::byte> bytes) {
  if (held_.capacity() == 0) held_.reserve(std::min(bytes.size(), kFewBytes));
  held_.insert(held_.end(), bytes.begin(), bytes.end());
  if (held_.size() > kFewBytes && !stays_) stays_ = !flush();
}

// False, and everything in memory again, where the file takes no more.
bool Spill::flush() {
  if (file_ < 0) file_ = unnamed_file();
  if (file_ < 0) return false;
  if (write_all(file_, held_)) {
    written_ += static_cast<int64_t>(held_.size());
    held_.clear();
    return true;
  }
  std::vector<std::byte> all(static_cast<size_t>(written_));
  if (read_at(file_, all, 0) != all.size()) {
    throw Error("temporary file", "cannot be read again; point TMPDIR at a folder with room");
  }
  ::close(std::exchange(file_, -1));
  all.insert(all.end(), held_.begin(), held_.end());
  held_ = std::move(all);
  written_ = 0;
  return false;
}

StoragePtr Spill::finish() {
  if (file_ >= 0 && !held_.empty()) stays_ = !flush();
  if (file_ < 0) return in_memory(std::move(held_));
  return std::make_shared<FileStorage>("temporary file", std::exchange(file_, -1), written_);
}

}  // namespace thimble::data
