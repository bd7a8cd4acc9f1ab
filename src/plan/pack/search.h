// Exact search for a packing of at most a given height.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/pack/problem.h"

namespace thimble::plan {

// Depth-first over canonical packings, in which every item rests on the ground or on another item.
//
// Each section has a floor: nothing more will lie below it. The search takes a section in a valley
// of the floors (a run of equal height with higher neighbours) and tries every item that may be the
// next one in that section: those whose whole life lies in the valley go right on the floor; the
// last branch leaves a gap and lifts the section's floor to the lowest place anything could then
// take. Floors are also lifted to the lowest place of the items left in the section; a branch is
// given up where a floor plus the sizes still to come exceeds the height. Sections where nothing is
// left cut the rest into independent spans, solved one by one. States proven hopeless are kept in
// a table.
//
// Source: canonical solutions, section inference, dynamic ordering and decomposition are those of
// M. D. Moffitt, "MiniMalloc", ASPLOS 2023. Branching on one section's next item instead of on the
// next item anywhere, and the choice of the section by candidates per failure (after F. Boussemart
// et al., "Boosting systematic search by weighting constraints", ECAI 2004), are our own.
class PackSearch {
 public:
  PackSearch(const Problem& problem, int64_t height);

  enum class Outcome { found, impossible, gave_up };

  struct Attempt {
    std::span<const int> rank;  // per item: the smaller, the earlier it is tried
    bool by_failures = false;   // prefer sections that failed often
    int64_t node_limit = 0;
    int64_t step_limit = 0;  // in steps() as a whole
  };

  // Starts from an empty packing. Keeps failures and hopeless states of earlier attempts.
  [[nodiscard]] Outcome attempt(const Attempt& attempt);

  // Per item; valid after Outcome::found.
  [[nodiscard]] const std::vector<int64_t>& offsets() const { return offset_; }
  // Work so far, in items and sections looked at.
  [[nodiscard]] int64_t steps() const { return steps_; }

 private:
  void set(int64_t& variable, int64_t value);
  void undo(size_t mark);
  [[nodiscard]] bool waits(int item) const { return offset_[static_cast<size_t>(item)] < 0; }
  [[nodiscard]] const Item& item(int i) const { return problem_.items[static_cast<size_t>(i)]; }

  bool solve(int first, int last, const std::vector<int>& items);
  bool solve_spans(int first, int last, const std::vector<int>& items);
  [[nodiscard]] size_t place_of(uint64_t key) const { return key >> (64 - table_bits_); }
  void remember(uint64_t key);
  [[nodiscard]] uint64_t state_key(int first, int last, const std::vector<int>& items) const;
  [[nodiscard]] int choose(int first, int last, const std::vector<int>& items);
  [[nodiscard]] std::vector<int> candidates(int section);
  [[nodiscard]] int64_t floor_above_gap(int section, const std::vector<int>& items);
  void place(int i, const std::vector<int>& items);
  void lift(int first, int last, int64_t floor, const std::vector<int>& items);
  [[nodiscard]] bool infer(int first, int last);
  [[nodiscard]] bool try_rest(int first, int last, const std::vector<int>& items, size_t mark);

  const Problem& problem_;
  int64_t height_;
  std::vector<std::vector<int>> items_of_;  // per section
  std::vector<uint64_t> item_keys_;
  std::vector<uint64_t> hopeless_;  // keys of states, by their upper bits; 0: none
  int table_bits_;
  size_t remembered_ = 0;  // places taken

  // The state. Only set() changes it, so that it can be undone.
  std::vector<int64_t> floor_;   // per section
  std::vector<int64_t> left_;    // per section: sizes of the items that wait
  std::vector<int64_t> lowest_;  // per item that waits: the lowest offset it can still get
  std::vector<int64_t> offset_;  // per item; -1: it waits
  std::vector<std::pair<int64_t*, int64_t>> trail_;

  Attempt attempt_;
  std::vector<int64_t> weights_;  // per section: 1 + how often it was found too full
  std::vector<int> witness_;      // per section: an item that lay on the floor, a hint
  std::vector<int> counts_;       // per section: scratch
  int64_t nodes_ = 0;
  int64_t steps_ = 0;
  int depth_ = 0;
  bool gave_up_ = false;
};

}  // namespace thimble::plan
