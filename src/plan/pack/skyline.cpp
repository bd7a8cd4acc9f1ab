#include "plan/pack/skyline.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace thimble::plan {
namespace {

constexpr int kNone = std::numeric_limits<int>::max();

// Finds the item of smallest rank within a span of sections, in a binary tree over the items by
// first section. Each node stores the earliest end and the smallest rank below it.
class Waiting {
 public:
  Waiting(const Problem& problem, std::span<const int> rank)
      : leaves_(std::bit_ceil(problem.items.size())),
        nodes_(2 * leaves_),
        first_item_(static_cast<size_t>(problem.sections()) + 1, 0) {
    for (size_t i = 0; i < problem.items.size(); ++i) {
      nodes_[leaves_ + i] = {problem.items[i].last, rank[i]};
      ++first_item_[static_cast<size_t>(problem.items[i].first) + 1];
    }
    for (size_t k = leaves_ - 1; k > 0; --k) update(k);
    for (size_t s = 1; s < first_item_.size(); ++s) first_item_[s] += first_item_[s - 1];
  }

  // Item alive within [first, last) only; -1: none.
  [[nodiscard]] int best(int first, int last) {
    begin_ = first_item_[static_cast<size_t>(first)];
    end_ = first_item_[static_cast<size_t>(last)];
    last_ = last;
    rank_ = kNone;
    item_ = -1;
    descend(1, 0, leaves_);
    return item_;
  }

  void remove(int item) {
    size_t k = leaves_ + static_cast<size_t>(item);
    nodes_[k] = {};
    for (k /= 2; k > 0; k /= 2) update(k);
  }

  [[nodiscard]] int64_t steps() const { return steps_; }

 private:
  struct Node {
    int last = kNone;
    int rank = kNone;
  };

  void update(size_t k) {
    nodes_[k] = {std::min(nodes_[2 * k].last, nodes_[2 * k + 1].last),
                 std::min(nodes_[2 * k].rank, nodes_[2 * k + 1].rank)};
  }

  void descend(size_t k, size_t begin, size_t end) {
    if (begin >= end_ || end <= begin_ || nodes_[k].last > last_ || nodes_[k].rank >= rank_) return;
    ++steps_;
    if (k >= leaves_) {
      rank_ = nodes_[k].rank;
      item_ = static_cast<int>(begin);
      return;
    }
    const size_t middle = (begin + end) / 2;
    const bool right_first = nodes_[2 * k + 1].rank < nodes_[2 * k].rank;
    if (right_first) descend(2 * k + 1, middle, end);
    descend(2 * k, begin, middle);
    if (!right_first) descend(2 * k + 1, middle, end);
  }

  size_t leaves_;
  std::vector<Node> nodes_;
  std::vector<size_t> first_item_;  // per section: first item that starts there or later
  // The current query.
  size_t begin_ = 0, end_ = 0;
  int last_ = 0, rank_ = kNone, item_ = -1;
  int64_t steps_ = 0;
};

// The skyline: the top of all placed items, as runs of sections of equal height.
class Heights {
 public:
  explicit Heights(int sections)
      : last_(static_cast<size_t>(sections) + 1),
        first_(static_cast<size_t>(sections) + 1),
        height_(static_cast<size_t>(sections) + 1, kNoRun),
        sections_(sections) {
    insert({0, sections, 0});
  }

  struct Run {
    int first, last;
    int64_t height;
  };

  // The leftmost of the lowest runs.
  [[nodiscard]] Run lowest() {
    while (true) {
      const auto [height, first] = by_height_.top();
      const size_t run = static_cast<size_t>(first);
      if (height_[run] == height) return {first, last_[run], height};
      by_height_.pop();  // the run was erased
    }
  }

  // Raises [first, last), a part of the run.
  void raise(const Run& run, int first, int last, int64_t height) {
    erase(run.first);
    if (run.first < first) insert({run.first, first, run.height});
    if (last < run.last) insert({last, run.last, run.height});
    // Equal neighbours become one run.
    if (last < sections_ && height_[static_cast<size_t>(last)] == height) {
      const int right = last;
      last = last_[static_cast<size_t>(right)];
      erase(right);
    }
    if (first > 0) {
      const int left = first_[static_cast<size_t>(first)];
      if (height_[static_cast<size_t>(left)] == height) {
        first = left;
        erase(left);
      }
    }
    insert({first, last, height});
  }

  // Height of the lower neighbour of a run. There is one as long as items wait that fit nowhere.
  [[nodiscard]] int64_t lower_side(const Run& run) const {
    int64_t side = std::numeric_limits<int64_t>::max();
    if (run.first > 0) {
      side = height_[static_cast<size_t>(first_[static_cast<size_t>(run.first)])];
    }
    if (run.last < sections_) side = std::min(side, height_[static_cast<size_t>(run.last)]);
    return side;
  }

 private:
  static constexpr int64_t kNoRun = -1;
  using Entry = std::pair<int64_t, int>;  // height, first

  void insert(const Run& run) {
    last_[static_cast<size_t>(run.first)] = run.last;
    first_[static_cast<size_t>(run.last)] = run.first;
    height_[static_cast<size_t>(run.first)] = run.height;
    by_height_.emplace(run.height, run.first);
  }
  void erase(int first) { height_[static_cast<size_t>(first)] = kNoRun; }

  std::vector<int> last_;        // of the run that begins at a section
  std::vector<int> first_;       // of the run that ends before a section
  std::vector<int64_t> height_;  // of the run that begins at a section
  int sections_;
  // All runs, and some that were erased.
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_height_;
};

}  // namespace

Skyline pack_skyline(const Problem& problem, std::span<const int> rank) {
  Skyline result;
  result.offsets.resize(problem.items.size());
  Waiting waiting(problem, rank);
  Heights heights(problem.sections());
  for (size_t placed = 0; placed < problem.items.size();) {
    const Heights::Run valley = heights.lowest();
    const int best = waiting.best(valley.first, valley.last);
    if (best < 0) {
      heights.raise(valley, valley.first, valley.last, heights.lower_side(valley));
      continue;
    }
    const Item& item = problem.items[static_cast<size_t>(best)];
    const int64_t offset = (valley.height + item.alignment - 1) / item.alignment * item.alignment;
    result.offsets[static_cast<size_t>(best)] = offset;
    result.peak = std::max(result.peak, offset + item.size);
    heights.raise(valley, item.first, item.last, offset + item.size);
    waiting.remove(best);
    ++placed;
  }
  result.steps = waiting.steps() + static_cast<int64_t>(problem.items.size());
  return result;
}

}  // namespace thimble::plan
