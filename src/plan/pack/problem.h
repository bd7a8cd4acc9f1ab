// A packing problem in the terms of the packers: independent parts, sections instead of times.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/pack/pack.h"

namespace thimble::plan {

// The smallest multiple that is not below the value.
[[nodiscard]] inline int64_t rounded_up(int64_t value, int64_t multiple) {
  return multiple == 1 ? value : (value + multiple - 1) / multiple * multiple;
}

// A property by which packers order items, the largest first.
enum class Key {
  load,      // of the heaviest section it is alive in
  load_sum,  // of all its sections
  duration,  // upper - lower
  size,
  area,      // duration * size
  overlaps,  // items alive at a time when it is
};

// A buffer, alive in the sections [first, last). Sizes are in units of the problem.
struct Item {
  int first, last;
  int64_t size;
  int64_t alignment;
  int buffer;                       // index in the caller's list
  std::array<double, 6> keys = {};  // by Key

  [[nodiscard]] double& key(Key which) { return keys[static_cast<size_t>(which)]; }
  [[nodiscard]] double key(Key which) const { return keys[static_cast<size_t>(which)]; }
};

// Buffers of one span of time that no other buffer reaches into. Two items overlap in time exactly
// if they share a section. A section is a maximal set of items alive at once.
struct Problem {
  std::vector<Item> items;    // by first, then last: a span of time is a range of indices
  std::vector<int64_t> load;  // per section: sum of sizes
  int64_t lower_bound = 0;    // largest load

  [[nodiscard]] int sections() const { return static_cast<int>(load.size()); }
};

struct Problems {
  int64_t unit = 1;  // bytes; every offset is a multiple of it
  std::vector<Problem> parts;
};

// Splits into parts and rounds sizes up to the unit, the largest one that loses nothing.
// Buffers of size 0 are left out. Throws Error as pack() does.
[[nodiscard]] Problems make_problems(std::span<const Buffer> buffers);

}  // namespace thimble::plan
