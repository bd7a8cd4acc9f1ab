// The file on disk below a swap file: how it is created, and what its file system supports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace thimble::exec {

// Offsets, sizes and addresses of direct transfers are multiples of this.
inline constexpr int64_t kSwapBlock = 4096;

[[nodiscard]] constexpr int64_t whole_blocks(int64_t bytes) {
  return (bytes + kSwapBlock - 1) / kSwapBlock * kSwapBlock;
}

// An open file without a name, readable by its user alone, with its whole size allocated on the
// disk.
class SwapDisk {
 public:
  // bytes: at least kSwapBlock. block: kSwapBlock aligned bytes of scratch, written to test whether
  // the file supports direct transfers. Throws Error.
  SwapDisk(const std::string& folder, int64_t bytes, bool direct, std::byte* block);
  ~SwapDisk();
  SwapDisk(const SwapDisk&) = delete;
  SwapDisk& operator=(const SwapDisk&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] bool direct() const { return direct_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] int64_t bytes() const { return bytes_; }

  // For a file that is not direct: flushes written bytes to the disk and drops them from the page
  // cache, which would be unplanned memory. Returns 0 or an errno.
  [[nodiscard]] int settle(bool write, int64_t offset, int64_t bytes) const;

 private:
  void allocate();
  void make_direct(std::byte* block);

  std::string folder_;
  int64_t bytes_;
  int descriptor_ = -1;
  bool direct_ = false;
};

[[nodiscard]] std::string default_swap_folder();

// See SwapFile::why_not.
[[nodiscard]] std::string why_no_swap(const std::string& folder, int64_t bytes);

}  // namespace thimble::exec
