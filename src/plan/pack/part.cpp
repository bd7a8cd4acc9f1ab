#include "plan/pack/part.h"

#include <algorithm>

#include "plan/pack/preference.h"
#include "plan/pack/search.h"

namespace thimble::plan {
namespace {

// Greedy packings in orders learned from each other. Source of the idea: D. Joslin, D. Clements,
// "Squeaky wheel optimization", Journal of Artificial Intelligence Research 10, 1999.
constexpr int kSqueakyTries = 96;
// A skyline step takes as long as this many of the search.
constexpr int64_t kSkylineStep = 16;
// With more items the recursion of a search is too deep, and it hardly succeeds.
constexpr size_t kMostItems = 2000;

// Work of one dive of the search to a first packing.
int64_t dive_steps(const Problem& problem) {
  const auto items = static_cast<int64_t>(problem.items.size());
  return items * (4 * items + 2 * problem.sections());
}

}  // namespace

void PartPacker::keep(const std::vector<int64_t>& offsets) {
  int64_t peak = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    peak = std::max(peak, offsets[i] + problem_.items[i].size);
  }
  if (!offsets_.empty() && peak >= peak_) return;
  offsets_ = offsets;
  peak_ = peak;
}

void PartPacker::pack_greedily(int64_t goal, int64_t step_limit) {
  goal = std::max(goal, problem_.lower_bound);
  std::vector<int64_t> scores;  // per item: the smaller, the earlier
  for (const Keys& keys : kKeys) {
    const std::vector<int> rank = rank_by(keys, problem_);
    const Skyline skyline = try_skyline(rank);
    if (scores.empty() || skyline.peak == peak_) scores.assign(rank.begin(), rank.end());
    if (peak_ <= goal || steps_ >= step_limit) return;
  }
  // Items that lie too high move forward in the order ("squeaky wheel").
  const auto sooner = static_cast<int64_t>(scores.size() / 20 + 1);
  for (int number = 0; number < kSqueakyTries; ++number) {
    const Skyline skyline = try_skyline(places(scores));
    if (peak_ <= goal || steps_ >= step_limit) return;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (skyline.offsets[i] + problem_.items[i].size > goal) scores[i] -= sooner;
    }
  }
}

Skyline PartPacker::try_skyline(std::span<const int> rank) {
  Skyline skyline = pack_skyline(problem_, rank);
  steps_ += kSkylineStep * skyline.steps;
  keep(skyline.offsets);
  return skyline;
}

void PartPacker::search(int64_t goal, int64_t step_limit) {
  goal = std::max(goal, proven_);
  const int64_t end = steps_ + step_limit;
  if (problem_.items.size() > kMostItems || dive_steps(problem_) > step_limit / 4) return;
  // Half of the work goes to the goal, and ever less to the heights above it.
  if (search_height(goal, step_limit / 2)) return;
  for (int64_t low = goal + 1; low < peak_ && steps_ < end;) {
    const int64_t middle = low + (peak_ - low) / 2;
    if (!search_height(middle, (end - steps_) / 3 + 1)) low = middle + 1;
  }
}

bool PartPacker::search_height(int64_t height, int64_t step_limit) {
  if (height >= peak_) return true;
  const PackSearchResult result = search_packing(problem_, height, step_limit);
  steps_ += result.steps;
  if (result.outcome == PackOutcome::found) keep(result.offsets);
  if (result.outcome == PackOutcome::impossible) proven_ = std::max(proven_, height + 1);
  return result.outcome == PackOutcome::found;
}

}  // namespace thimble::plan
