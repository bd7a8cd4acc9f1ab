#include "plan/pack/pack.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "plan/pack/preference.h"
#include "plan/pack/problem.h"
#include "plan/pack/search.h"
#include "plan/pack/skyline.h"

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

// The best packing of one independent part of a problem. Sizes and offsets are in units of the
// problem.
class PartPacker {
 public:
  explicit PartPacker(const Problem& problem) : problem_(problem) {}

  // Skyline packings in several orders until the peak is at most `goal` or the steps are used up;
  // one at least.
  void pack_greedily(int64_t goal, int64_t step_limit) {
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

  // Exact search for peaks below the best so far, down to `goal` (at least the lower bound), until
  // that is reached, proven impossible, or the steps are used up.
  void search(int64_t goal, int64_t step_limit) {
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

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const std::vector<int64_t>& offsets() const { return offsets_; }
  [[nodiscard]] int64_t peak() const { return peak_; }
  // No packing of this part is lower.
  [[nodiscard]] bool optimal() const { return peak_ <= proven_; }
  [[nodiscard]] int64_t steps() const { return steps_; }

 private:
  Skyline try_skyline(std::span<const int> rank) {
    Skyline skyline = pack_skyline(problem_, rank);
    steps_ += kSkylineStep * skyline.steps;
    keep(skyline.offsets);
    return skyline;
  }

  bool search_height(int64_t height, int64_t step_limit) {
    if (height >= peak_) return true;
    const PackSearchResult result = search_packing(problem_, height, step_limit);
    steps_ += result.steps;
    if (result.outcome == PackOutcome::found) keep(result.offsets);
    if (result.outcome == PackOutcome::impossible) proven_ = std::max(proven_, height + 1);
    return result.outcome == PackOutcome::found;
  }

  void keep(const std::vector<int64_t>& offsets) {
    int64_t peak = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      peak = std::max(peak, offsets[i] + problem_.items[i].size);
    }
    if (!offsets_.empty() && peak >= peak_) return;
    offsets_ = offsets;
    peak_ = peak;
  }

  const Problem& problem_;
  std::vector<int64_t> offsets_;
  int64_t peak_ = 0;
  int64_t proven_ = problem_.lower_bound;  // no peak is below it
  int64_t steps_ = 0;
};

// Improves the parts until the highest one cannot get lower, or the steps are used up.
void pack_parts(std::vector<PartPacker>& parts, int64_t step_limit) {
  int64_t goal = 0;  // no part needs to be lower
  for (const PartPacker& part : parts) goal = std::max(goal, part.problem().lower_bound);
  int64_t left = step_limit;
  for (PartPacker& part : parts) {
    part.pack_greedily(goal, left / 2);
    left = std::max<int64_t>(left - part.steps(), 0);
  }
  std::vector<PartPacker*> open;
  for (PartPacker& part : parts) {
    if (part.peak() > goal) open.push_back(&part);
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const PartPacker* a, const PartPacker* b) { return a->peak() > b->peak(); });
  for (size_t i = 0; i < open.size(); ++i) {
    const int64_t before = open[i]->steps();
    open[i]->search(goal, left / static_cast<int64_t>(open.size() - i));
    goal = std::max(goal, open[i]->peak());
    left = std::max<int64_t>(left - (open[i]->steps() - before), 0);
  }
}

}  // namespace

Packing pack(std::span<const Buffer> buffers, const PackOptions& options) {
  const Problems problems = make_problems(buffers);
  std::vector<PartPacker> parts(problems.parts.begin(), problems.parts.end());
  pack_parts(parts, options.steps);
  Packing packing;
  packing.offsets.assign(buffers.size(), 0);
  packing.lower_bound_bytes = largest_live_bytes(buffers);
  int64_t highest = 0;
  for (const PartPacker& part : parts) {
    highest = std::max(highest, part.peak());
    packing.steps += part.steps();
    for (size_t i = 0; i < part.offsets().size(); ++i) {
      const auto buffer = static_cast<size_t>(part.problem().items[i].buffer);
      packing.offsets[buffer] = part.offsets()[i] * problems.unit;
    }
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    packing.peak_bytes = std::max(packing.peak_bytes, packing.offsets[i] + buffers[i].size);
  }
  packing.optimal = packing.peak_bytes == packing.lower_bound_bytes ||
                    std::any_of(parts.begin(), parts.end(), [&](const PartPacker& part) {
                      return part.peak() == highest && part.optimal();
                    });
  return packing;
}

int64_t largest_live_bytes(std::span<const Buffer> buffers) {
  std::vector<std::pair<int64_t, int64_t>> changes;  // time, bytes; ends sort before starts
  for (const Buffer& buffer : buffers) {
    changes.emplace_back(buffer.lower, buffer.size);
    changes.emplace_back(buffer.upper, -buffer.size);
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0;
  int64_t largest = 0;
  for (const auto& [time, bytes] : changes) {
    live += bytes;
    largest = std::max(largest, live);
  }
  return largest;
}

void check(std::span<const Buffer> buffers, const Packing& packing) {
  constexpr const char* kWhere = "pack";
  if (packing.offsets.size() != buffers.size()) {
    throw Error(kWhere,
                fmt::format("{} offsets for {} buffers", packing.offsets.size(), buffers.size()));
  }
  int64_t peak = 0;
  std::vector<size_t> by_start;  // buffers that take memory
  for (size_t i = 0; i < buffers.size(); ++i) {
    const int64_t offset = packing.offsets[i];
    if (offset < 0 || offset % buffers[i].alignment != 0) {
      throw Error(kWhere, fmt::format("buffer {}: offset {} is not a multiple of {}", i, offset,
                                      buffers[i].alignment));
    }
    peak = std::max(peak, offset + buffers[i].size);
    if (buffers[i].size > 0) by_start.push_back(i);
  }
  if (peak != packing.peak_bytes) {
    throw Error(kWhere, fmt::format("the peak is {}, not {}", peak, packing.peak_bytes));
  }
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](size_t a, size_t b) { return buffers[a].lower < buffers[b].lower; });
  const auto ends_below = [&](size_t a, size_t b) {
    return packing.offsets[a] + buffers[a].size <= packing.offsets[b];
  };
  for (auto a = by_start.begin(); a != by_start.end(); ++a) {
    // Those that start while it is alive.
    for (auto b = a + 1; b != by_start.end() && buffers[*b].lower < buffers[*a].upper; ++b) {
      if (ends_below(*a, *b) || ends_below(*b, *a)) continue;
      throw Error(kWhere, fmt::format("buffers {} and {} are alive together and overlap", *a, *b));
    }
  }
}

}  // namespace thimble::plan
