// Counts allocations through operator new in this program. Include it in exactly one file of a
// test: it replaces the global operators.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

// Bytes in use now, and their peak since it was last reset.
struct Tally {
  std::atomic<int64_t> held{0};
  std::atomic<int64_t> peak{0};

  void add(int64_t bytes) {
    const int64_t now = held.fetch_add(bytes) + bytes;
    int64_t most = peak.load();
    while (now > most && !peak.compare_exchange_weak(most, now)) {
    }
  }
};

std::atomic<int64_t> calls{0};
Tally all;      // every block
Tally aligned;  // those with an explicit alignment

// The size is stored before the block, one whole alignment away.
constexpr size_t kAlign = 64;
constexpr size_t kPlain = 16;

void* plain_block(size_t size) noexcept {
  auto* const block = static_cast<char*>(std::malloc(size + kPlain));
  if (block == nullptr) return nullptr;
  *reinterpret_cast<size_t*>(block) = size;
  ++calls;
  all.add(static_cast<int64_t>(size));
  return block + kPlain;
}

void free_plain(void* block) noexcept {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - kPlain;
  all.add(-static_cast<int64_t>(*reinterpret_cast<size_t*>(start)));
  std::free(start);
}

}  // namespace

namespace thimble::test {
// Calls of operator new so far, of any kind.
inline int64_t allocations() { return calls.load(); }
// Bytes now held through operator new.
inline int64_t bytes_held() { return all.held.load(); }
// The same for blocks with an alignment: the arenas, stores and batches of the library.
inline int64_t aligned_bytes_held() { return aligned.held.load(); }
// The peak since watch_peak, or since the start of the program.
inline int64_t peak_bytes() { return all.peak.load(); }
inline int64_t peak_aligned_bytes() { return aligned.peak.load(); }
inline void watch_peak() {
  all.peak = all.held.load();
  aligned.peak = aligned.held.load();
}
}  // namespace thimble::test

void* operator new(size_t size) {
  if (void* const block = plain_block(size)) return block;
  throw std::bad_alloc();
}
// Sanitizers replace this operator by one that does not use malloc.
void* operator new(size_t size, const std::nothrow_t&) noexcept { return plain_block(size); }
// Not inlined, because the compiler would report the memory before a block as an error.
[[gnu::noinline]] void operator delete(void* block) noexcept { free_plain(block); }
void operator delete(void* block, size_t) noexcept { operator delete(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { operator delete(block); }

void* operator new(size_t size, std::align_val_t align) {
  if (static_cast<size_t>(align) > kAlign) throw std::bad_alloc();
  const size_t total = (size + 2 * kAlign - 1) / kAlign * kAlign;
  auto* const block = static_cast<char*>(std::aligned_alloc(kAlign, total));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<size_t*>(block) = size;
  ++calls;
  all.add(static_cast<int64_t>(size));
  aligned.add(static_cast<int64_t>(size));
  return block + kAlign;
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  if (block == nullptr) return;
  char* const start = static_cast<char*>(block) - kAlign;
  const auto size = static_cast<int64_t>(*reinterpret_cast<size_t*>(start));
  all.add(-size);
  aligned.add(-size);
  std::free(start);
}
void operator delete(void* block, size_t, std::align_val_t align) noexcept {
  operator delete(block, align);
}
