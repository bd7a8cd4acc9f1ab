#include "exec/mapped.h"

#include <sys/mman.h>
#include <thimble/error.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "exec/swap_disk.h"

namespace thimble::exec {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

size_t whole_pages(size_t bytes) {
  const size_t page = page_bytes();
  return (std::max<size_t>(bytes, 1) + page - 1) / page * page;
}

void replace(std::span<std::byte> zeros, int flags, int file) {
  void* const made = ::mmap(zeros.data(), whole_pages(zeros.size()), PROT_READ | PROT_WRITE,
                            MAP_FIXED | flags, file, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
}

}  // namespace

std::shared_ptr<std::byte> map_zeros(size_t bytes) {
  const size_t length = whole_pages(bytes);
  void* const begin =
      ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(begin), [length](std::byte* from) { ::munmap(from, length); }};
}

std::string put_in_file(std::span<std::byte> zeros, const std::string& folder) {
  const std::string place = folder.empty() ? default_swap_folder() : folder;
  const auto bytes = std::max(static_cast<int64_t>(whole_pages(zeros.size())), kSwapBlock);
  std::string why_not = why_no_swap(place, bytes);
  if (!why_not.empty()) return why_not;
  const SwapDisk disk(place, bytes, false, nullptr);
  replace(zeros, MAP_SHARED, disk.descriptor());
  return {};
}

// Private memory would lose its contents in drop_pages.
void put_in_memory(std::span<std::byte> zeros) { replace(zeros, MAP_SHARED | MAP_ANONYMOUS, -1); }

void drop_pages(std::span<const std::byte> mapped) {
  auto* const begin = const_cast<std::byte*>(mapped.data());
  const size_t before = reinterpret_cast<uintptr_t>(begin) % page_bytes();
  static_cast<void>(::madvise(begin - before, before + mapped.size(), MADV_DONTNEED));
}

}  // namespace thimble::exec
