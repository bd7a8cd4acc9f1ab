#include "io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <thimble/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace thimble::io {
namespace {

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string reason() { return std::strerror(errno); }

}  // namespace

// The temporary name is fixed for a target: a killed writer's remains are overwritten by the next.
AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) throw Error("file to write", "has an empty name; give the name of a file");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(status)) {
    throw Error(path_, "is a folder; give the name of a file");
  }
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    const std::filesystem::path followed = std::filesystem::weakly_canonical(path_, error);
    if (!error && std::filesystem::is_symlink(path_, error)) target_ = followed.string();
    temporary_ = target_ + ".partial";
  }
  descriptor_ = temporary_.empty()
                    ? ::open(path_.c_str(), O_WRONLY | O_CLOEXEC)
                    : ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw Error(path_, fmt::format("cannot be written: {}; choose a folder that exists and is "
                                   "writable",
                                   reason()));
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) discard();
}

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* doing) {
  const std::string why = reason();
  discard();
  throw Error(path_,
              fmt::format("{} failed: {}{}", doing, why,
                          temporary_.empty() ? "" : "; what stood there before is untouched"));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("writing");
    if (written == 0) {
      errno = ENOSPC;
      fail("writing");
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::rewrite_beginning(const std::string& text) {
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail("writing");
  write(text);
}

void AtomicFile::commit() {
  if (temporary_.empty()) {  // pipes and devices cannot be synced
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("writing");
    return;
  }
  if (::fsync(descriptor_) != 0) fail("writing to the disk");
  if (::close(std::exchange(descriptor_, -1)) != 0 ||
      ::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const std::string why = reason();
    discard();
    throw Error(path_, fmt::format("cannot be replaced: {}", why));
  }
  // The rename itself must survive a power cut; a folder that cannot be synced is no failure.
  const int folder = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    static_cast<void>(::fsync(folder));
    ::close(folder);
  }
}

std::string read_file(const std::string& path, size_t limit_bytes) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(path, "no such file");
  if (std::filesystem::is_directory(status)) throw Error(path, "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path, "cannot be read: " + reason());
  std::string bytes;
  char chunk[1 << 16];
  while (in.read(chunk, sizeof chunk), in.gcount() > 0) {
    bytes.append(chunk, static_cast<size_t>(in.gcount()));
    if (bytes.size() > limit_bytes) {
      throw Error(path, fmt::format("is longer than the {} bytes expected at most", limit_bytes));
    }
  }
  if (in.bad()) throw Error(path, "reading failed: " + reason());
  return bytes;
}

void make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(path, "cannot make this folder: " + error.message());
  if (!std::filesystem::is_directory(path)) throw Error(path, "is a file, a folder is needed");
}

}  // namespace thimble::io
