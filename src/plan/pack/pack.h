// Packing buffers with known lifetimes into one arena (dynamic storage allocation).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::plan {

// Bound of times, and of all sizes and alignments together: sums of a few of them do not overflow.
inline constexpr int64_t kLargestValue = int64_t{1} << 61;

// A buffer of `size` bytes that is alive from time `lower` up to, not including, `upper`.
// Its offset will be a multiple of `alignment`.
struct Buffer {
  int64_t lower, upper, size, alignment = 1;
};

struct PackOptions {
  // Work limit, in buffers and times looked at, for packings that stay above the lower bound: half
  // a billion take a second. Counted, not timed, so that every machine gives the same packing. 0:
  // one greedy packing.
  int64_t steps = 4'000'000'000;
};

struct Packing {
  std::vector<int64_t> offsets;   // one per buffer, in the order given
  int64_t peak_bytes = 0;         // largest offset + size
  int64_t lower_bound_bytes = 0;  // largest sum of sizes alive at once
  // No packing has a smaller peak (up to the rounding of sizes to the alignment).
  bool optimal = false;
  int64_t steps = 0;  // work done, of PackOptions::steps
};

// Gives every buffer an offset so that no two alive at the same time overlap, keeping the peak
// small. Deterministic: the same buffers get the same offsets on every machine.
// Method: skyline best fit in several orders; where that is above the lower bound, depth-first
// search over canonical packings after M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator
// for Hardware-Accelerated Machine Learning", ASPLOS 2023, restarted with other orders of the
// buffers. See docs/guide/packing.md.
// Throws Error naming the buffer where a lifetime is empty, a size negative, an alignment not
// positive, or kLargestValue is exceeded.
[[nodiscard]] Packing pack(std::span<const Buffer> buffers, const PackOptions& options = {});

// Throws Error naming the buffers where two overlap, an offset is negative or misaligned, the peak
// is not the largest end, or the numbers of offsets and buffers differ.
void check(std::span<const Buffer> buffers, const Packing& packing);

// Largest sum of sizes alive at once, the bound no packing can beat.
[[nodiscard]] int64_t largest_live_bytes(std::span<const Buffer> buffers);

}  // namespace thimble::plan
