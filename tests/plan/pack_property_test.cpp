// Random packing problems: every packing is valid, and small ones are optimal.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>

#include "plan/pack/pack.h"

namespace thimble::plan::pack_property_test {
namespace {

rc::Gen<Buffer> any_buffer(int64_t times, int64_t sizes) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<int64_t>(0, times), rc::gen::inRange<int64_t>(1, times),
                     rc::gen::inRange<int64_t>(0, sizes),
                     rc::gen::element<int64_t>(1, 1, 1, 2, 4, 3)),
      [](const std::tuple<int64_t, int64_t, int64_t, int64_t>& fields) {
        const auto& [lower, length, size, alignment] = fields;
        return Buffer{lower, lower + length, size, alignment};
      });
}

std::vector<Buffer> any_problem(size_t most, int64_t times, int64_t sizes) {
  const auto count = *rc::gen::inRange<size_t>(0, most + 1);
  return *rc::gen::container<std::vector<Buffer>>(count, any_buffer(times, sizes));
}

// In any packing the buffers can be taken from the lowest to the highest and dropped; so the
// lowest peak is that of some order in which each rests on all before it.
int64_t lowest_peak(const std::vector<Buffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = buffers.empty() ? 0 : INT64_MAX;
  do {
    std::vector<int64_t> tops;
    int64_t peak = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const Buffer& b = buffers[order[k]];
      int64_t offset = 0;
      for (size_t j = 0; j < k; ++j) {
        const Buffer& below = buffers[order[j]];
        if (below.lower < b.upper && b.lower < below.upper) offset = std::max(offset, tops[j]);
      }
      offset = (offset + b.alignment - 1) / b.alignment * b.alignment;
      tops.push_back(offset + b.size);
      peak = std::max(peak, tops.back());
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::vector<Buffer> without_empty(std::vector<Buffer> buffers) {
  std::erase_if(buffers, [](const Buffer& b) { return b.size == 0; });
  return buffers;
}

TEST(pack_property, packings_are_valid) {
  EXPECT_TRUE(rc::check("no two live buffers overlap", [] {
    const std::vector<Buffer> buffers = any_problem(120, 60, 100);
    const Packing packing = pack(buffers, {.steps = 2'000'000});
    check(buffers, packing);
    RC_ASSERT(packing.peak_bytes >= packing.lower_bound_bytes);
    RC_ASSERT(packing.lower_bound_bytes == largest_live_bytes(buffers));
  }));
}

TEST(pack_property, small_problems_are_packed_optimally) {
  EXPECT_TRUE(rc::check("the peak is that of the best of all orders", [] {
    const std::vector<Buffer> buffers = any_problem(7, 8, 12);
    const Packing packing = pack(buffers);
    check(buffers, packing);
    RC_ASSERT(packing.optimal);
    // Optimal up to the common divisor of the alignments.
    int64_t unit = 0;
    for (const Buffer& b : without_empty(buffers)) unit = std::gcd(unit, b.alignment);
    unit = std::max<int64_t>(unit, 1);
    const auto units = [&](int64_t bytes) { return (bytes + unit - 1) / unit; };
    RC_ASSERT(units(packing.peak_bytes) == units(lowest_peak(without_empty(buffers))));
  }));
}

}  // namespace
}  // namespace thimble::plan::pack_property_test
