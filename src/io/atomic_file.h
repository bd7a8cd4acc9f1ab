// Files that appear whole or not at all.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace thimble::io {

// How the message of an AtomicFile that cannot be opened begins.
inline constexpr const char* kCannotBeWritten = "cannot be written";

// Writes to a temporary file beside the target; commit syncs it, renames it over the target and
// syncs the folder. Killed at any moment, the target is the old file or the new one, whole.
// Without commit nothing changes and the temporary file is removed. A symbolic link is followed:
// the file it leads to is replaced or made, the link stays. A file that was there keeps its
// permissions. Several writers of one target do not disturb each other: the last to commit wins.
// A path of another kind (a pipe, a device such as /dev/stdout) is written directly. Errors:
// thimble::Error naming path and reason (no such folder, not writable, disk full).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(const std::string& text) { write(std::as_bytes(std::span(text))); }
  // Whether the target is a regular file, so that what was written can be replaced.
  [[nodiscard]] bool can_rewrite() const { return !temporary_.empty(); }
  // Replaces the first bytes of what was written; needs can_rewrite().
  void rewrite_beginning(const std::string& text);
  void commit();

 private:
  void open_temporary();
  [[noreturn]] void fail(const char* doing);
  void discard();

  std::string path_;
  std::string target_;          // path_, links followed
  std::string temporary_;       // empty where the target is written directly
  std::optional<mode_t> mode_;  // permissions of the file that was there
  int descriptor_ = -1;
};

// The whole contents of a file. Throws Error naming path and reason; limit_bytes: the most it
// will read.
[[nodiscard]] std::string read_file(const std::string& path, size_t limit_bytes);

// Makes a folder and those above it. Throws Error where that fails.
void make_directories(const std::string& path);

}  // namespace thimble::io
