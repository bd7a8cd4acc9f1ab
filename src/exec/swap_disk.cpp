#include "exec/swap_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <thimble/error.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace thimble::exec {
namespace {

constexpr const char* kWhere = "swap file";

// File systems that keep their files in memory (linux/magic.h).
constexpr int64_t kTmpfs = 0x01021994;
constexpr int64_t kRamfs = 0x858458f6;

bool is_memory(const struct statfs& system) {
  return static_cast<uint32_t>(system.f_type) == kTmpfs ||
         static_cast<uint32_t>(system.f_type) == kRamfs;
}

// Opens a file without a name. -1: see errno.
int open_nameless(const std::string& folder) {
  constexpr mode_t kOwnerOnly = 0600;
#ifdef O_TMPFILE
  const int nameless = ::open(folder.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, kOwnerOnly);
  if (nameless >= 0) return nameless;
#endif
  std::string path = folder + "/thimble-swap-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);  // permissions 0600
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

std::string refusal(const std::string& folder, int error) {
  return fmt::format(
      "cannot be made in {}: {}; name a folder that exists and is writable with "
      "swap_dir (on the command line --swap-dir)",
      folder, std::strerror(error));
}

// -1: unknown to the file system.
int64_t free_bytes(int descriptor) {
  struct statvfs system {};
  if (::fstatvfs(descriptor, &system) != 0) return -1;
  return static_cast<int64_t>(system.f_bavail) * static_cast<int64_t>(system.f_frsize);
}

std::string no_space(const std::string& folder, int descriptor, int64_t bytes, int error) {
  return fmt::format(
      "needs {} bytes in {}, where {} bytes are free: {}; make room there, or name a folder of "
      "another disk with swap_dir (on the command line --swap-dir)",
      bytes, folder, std::max<int64_t>(free_bytes(descriptor), 0), std::strerror(error));
}

// Why a file cannot have this size, as far as the system tells in advance; empty: it can.
std::string why_no_room(const std::string& folder, int descriptor, int64_t bytes) {
  // Beyond this limit the system would end the process by a signal.
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      static_cast<uint64_t>(bytes) > limit.rlim_cur) {
    return fmt::format(
        "needs {} bytes, but this process may make files of {} bytes at most; raise that limit "
        "(ulimit -f)",
        bytes, limit.rlim_cur);
  }
  const int64_t free = free_bytes(descriptor);
  return free >= 0 && bytes > free ? no_space(folder, descriptor, bytes, ENOSPC) : std::string();
}

}  // namespace

SwapDisk::SwapDisk(const std::string& folder, int64_t bytes, bool direct, std::byte* block)
    : folder_(folder), bytes_(bytes), descriptor_(open_nameless(folder)) {
  if (descriptor_ < 0) throw Error(kWhere, refusal(folder_, errno));
  try {
    allocate();
  } catch (const Error&) {
    ::close(descriptor_);
    throw;
  }
  if (direct) make_direct(block);
}

SwapDisk::~SwapDisk() { ::close(descriptor_); }

void SwapDisk::allocate() {
  // Checked first, because allocating is slow where the system must write every block.
  const std::string why = why_no_room(folder_, descriptor_, bytes_);
  if (!why.empty()) throw Error(kWhere, why);
  int error = EINTR;
  while (error == EINTR) error = ::posix_fallocate(descriptor_, 0, bytes_);
  if (error != 0) throw Error(kWhere, no_space(folder_, descriptor_, bytes_, error));
}

// Some file systems accept the flag but refuse the transfers, or need larger blocks.
void SwapDisk::make_direct(std::byte* block) {
#ifdef O_DIRECT
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor_, F_SETFL, flags | O_DIRECT) != 0) return;
  ssize_t written = 0;
  do {
    written = ::pwrite(descriptor_, block, kSwapBlock, 0);
  } while (written < 0 && errno == EINTR);
  direct_ = written == kSwapBlock;
  if (!direct_) static_cast<void>(::fcntl(descriptor_, F_SETFL, flags));
#else
  static_cast<void>(block);
#endif
}

int SwapDisk::settle(bool write, int64_t offset, int64_t bytes) const {
  if (direct_) return 0;
  if (write) {
    int result = 0;
    do {
#ifdef SYNC_FILE_RANGE_WRITE
      result = ::sync_file_range(
          descriptor_, offset, bytes,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
#else
      result = ::fdatasync(descriptor_);
#endif
    } while (result != 0 && errno == EINTR);
    if (result != 0) return errno;
  }
  static_cast<void>(::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_DONTNEED));
  return 0;
}

std::string why_no_swap(const std::string& folder, int64_t bytes) {
  const int descriptor = open_nameless(folder);
  if (descriptor < 0) return refusal(folder, errno);
  struct statfs system {};
  const bool in_memory = ::fstatfs(descriptor, &system) == 0 && is_memory(system);
  std::string why = in_memory
                        ? fmt::format(
                              "would lie in memory: {} is no folder of a disk (tmpfs), and a "
                              "file there frees nothing; name one of a disk with swap_dir (on the "
                              "command line --swap-dir)",
                              folder)
                        : why_no_room(folder, descriptor, bytes);
  ::close(descriptor);
  return why;
}

std::string default_swap_folder() {
  const char* chosen = std::getenv("TMPDIR");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  struct statfs system {};
  const bool useless = ::statfs("/tmp", &system) != 0 || is_memory(system);
  return useless && ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

}  // namespace thimble::exec
