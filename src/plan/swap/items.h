// Values that may lie in the swap file, and when they must be in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/lifetimes.h"

namespace thimble::plan {

// Live bytes at each step, with parameters and state; updated by what is swapped.
using Live = std::vector<int64_t>;

// A node that reads or writes an item, by its index. -1: before the first node.
struct Access {
  int step;
  bool writes;
};

// A buffer, or the storage of a parameter or state.
struct SwapItem {
  std::string name;  // of a parameter or state; empty: a buffer of the arena
  std::vector<int> values;
  int64_t bytes = 0;  // as they count in memory
  std::vector<Access> accesses;
  // Whether the item is out of memory before access i and, as the last element, after all of them.
  // For a parameter or state the first and the last element are equal.
  std::vector<char> out;
  int slot = -1;

  [[nodiscard]] bool persistent() const { return !name.empty(); }
  [[nodiscard]] bool is_swapped() const;
};

// A run of accesses during which an item is in memory.
struct Residency {
  int item;
  int first;  // steps of its first and last access
  int last;
  bool fetched;        // read from the file before its first access
  bool stored;         // written to it after its last
  int read_at = 0;     // the step before which the read begins
  int written_at = 0;  // the step after which the write must have ended

  // Of two waiting transfers the file takes the one with the smaller deadline. A read is needed
  // before its step, a write after it.
  [[nodiscard]] int64_t read_deadline() const { return 2 * static_cast<int64_t>(first); }
  [[nodiscard]] int64_t write_deadline() const { return 2 * static_cast<int64_t>(written_at) + 1; }
};

// The residencies of a swapped item, in order. Contents that the file has already are not written
// twice.
[[nodiscard]] std::vector<Residency> residencies_of(const SwapItem& item, int number);

// The residencies of all swapped items, item by item.
[[nodiscard]] std::vector<Residency> residencies_of(const std::vector<SwapItem>& items);

// Sorts by the start of reads, then by the step that needs them.
void sort_by_start(std::vector<Residency>& residencies);

// Indices of the residencies that are written, the most urgent first.
[[nodiscard]] std::vector<size_t> writes_of(const std::vector<Residency>& residencies);

// All items of at least smallest_bytes that may be swapped.
[[nodiscard]] std::vector<SwapItem> swap_items(const ir::Graph& graph, const Sequence& sequence,
                                               const Sharing& sharing, int64_t smallest_bytes);

}  // namespace thimble::plan
