#include "io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
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

// Where a path leads, links followed, be there a file or not.
std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::filesystem::path at = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(at, error); ++links) {
    if (links == kMostLinks) {
      throw Error(path, "is a symbolic link that leads to itself; give the name of a file");
    }
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  }
  return at.string();
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Opens a file and locks it until it is closed; -1: errno says why not, EWOULDBLOCK that another
// writer has it, or has renamed it since it was opened. A file system without locks goes without.
int open_locked(const std::string& path, mode_t mode) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode);
  if (descriptor < 0) return -1;
  const bool is_taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!is_taken && is_same_file(descriptor, path)) return descriptor;
  ::close(descriptor);
  errno = EWOULDBLOCK;
  return -1;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_.empty()) throw Error("file to write", "has an empty name; give the name of a file");
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(status)) {
    throw Error(path_, "is a folder; give the name of a file");
  }
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) {
    target_ = followed(path_);
    open_temporary();
  } else {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  }
  if (descriptor_ < 0) {
    throw Error(path_, fmt::format("{}: {}; choose a folder that exists and is writable",
                                   kCannotBeWritten, reason()));
  }
}

// Killed writers leave their temporary file behind, so its name is fixed and the next writer takes
// it over. A writer that is still at work has locked it: another one counts up.
void AtomicFile::open_temporary() {
  constexpr mode_t kPermissions = 07777;
  constexpr mode_t kNewMode = 0644;  // less the umask
  constexpr int kMostWriters = 64;
  struct stat old {};
  if (::stat(target_.c_str(), &old) == 0) mode_ = old.st_mode & kPermissions;
  for (int number = 1; descriptor_ < 0 && number <= kMostWriters; ++number) {
    temporary_ = target_ + ".partial" + (number == 1 ? "" : std::to_string(number));
    descriptor_ = open_locked(temporary_, mode_.value_or(kNewMode) | S_IWUSR);
    if (descriptor_ < 0 && errno != EWOULDBLOCK) return;
  }
  if (descriptor_ < 0) return;
  // A file that a killed writer left may have wider permissions.
  if (mode_ && ::fchmod(descriptor_, *mode_ | S_IWUSR) != 0) fail("setting the permissions");
  if (::ftruncate(descriptor_, 0) != 0) fail("writing");
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) discard();
}

void AtomicFile::discard() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
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
  if (mode_ && ::fchmod(descriptor_, *mode_) != 0) fail("setting the permissions");
  if (::fsync(descriptor_) != 0) fail("writing to the disk");
  // Closing gives up the lock, so it comes last; what it could report, fsync has.
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const std::string why = reason();
    discard();
    throw Error(path_, fmt::format("cannot be replaced: {}", why));
  }
  ::close(std::exchange(descriptor_, -1));
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
