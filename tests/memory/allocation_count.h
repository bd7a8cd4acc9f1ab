// Counts what goes through operator new in this program. Included by one file of a test alone: it
// replaces the global operators.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> calls{0};
std::atomic<int64_t> aligned_bytes{0};

// The size stands before the block, a whole alignment away.
constexpr size_t kAlign = 64;

}  // namespace

namespace thimble::test {
// Calls of operator new so far, of any kind.
int64_t allocations() { return calls.load(); }
// Bytes now held by cache-aligned operator new: the arenas and stores of the library.
int64_t aligned_bytes_held() { return aligned_bytes.load(); }
}  // namespace thimble::test

void* operator new(size_t size) {
  ++calls;
  if (void* const block = std::malloc(size == 0 ? 1 : size)) return block;
  throw std::bad_alloc();
}
// Sanitizers bring their own of this one, whose blocks are not malloc's.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++calls;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

void* operator new(size_t size, std::align_val_t align) {
  ++calls;
  if (static_cast<size_t>(align) > kAlign) throw std::bad_alloc();
  const size_t total = (size + 2 * kAlign - 1) / kAlign * kAlign;
  auto* const block = static_cast<char*>(std::aligned_alloc(kAlign, total));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<size_t*>(block) = size;
  aligned_bytes += static_cast<int64_t>(size);
  return block + kAlign;
}
void operator delete(void* block, std::align_val_t) noexcept {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - kAlign;
  aligned_bytes -= static_cast<int64_t>(*reinterpret_cast<size_t*>(start));
  std::free(start);
}
void operator delete(void* block, size_t, std::align_val_t align) noexcept {
  operator delete(block, align);
}
