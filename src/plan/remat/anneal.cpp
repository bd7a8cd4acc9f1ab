#include "plan/remat/anneal.h"

#include <algorithm>

#include "plan/work.h"

namespace thimble::plan {
namespace {

// Moves for each pair of nodes that may be changed, and steps of all their trials: less than a
// tenth of a second.
constexpr size_t kMovesOfPair = 2;
constexpr size_t kMaxSteps = 1'000'000;

// Of the work of a step, that a move may cost at first.
constexpr double kFirstThreshold = 0.02;

// How much a peak above the target weighs beside work: as much above it as below nothing.
constexpr double kPeakWeight = 3.0;

constexpr size_t kLongestRun = 6;  // nodes that one move makes alike

class Random {
 public:
  // Marsaglia, "Xorshift RNGs", 2003.
  size_t below(size_t end) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<size_t>(state_ % end);
  }

 private:
  uint64_t state_ = 88172645463325252ULL;
};

class Search {
 public:
  Search(const Twice& twice, const std::vector<int>& open, int64_t target_bytes)
      : twice_(twice),
        open_(open),
        whole_(work_of(twice.graph())),
        target_(static_cast<double>(target_bytes)) {}

  Trial run(Trial now) {
    double cost = cost_of(now);
    Trial best = now;
    Trial next;
    double best_cost = cost;
    const size_t moves =
        std::min(kMovesOfPair * open_.size() * open_.size(), kMaxSteps / now.turns.size());
    for (size_t i = 0; i < moves; ++i) {
      const double threshold =
          kFirstThreshold * (1.0 - static_cast<double>(i) / static_cast<double>(moves));
      next.again = now.again;
      move(next.again);
      twice_.build(next);
      if (!next.valid) continue;
      const double next_cost = cost_of(next);
      if (next_cost > cost + threshold) continue;
      std::swap(now, next);
      cost = next_cost;
      if (cost >= best_cost) continue;
      best = now;
      best_cost = cost;
    }
    return best;
  }

 private:
  // Work that is done twice, the peak above the target, and, so that moves lead there, how much of
  // the step lies above it; each as a share.
  [[nodiscard]] double cost_of(const Trial& trial) const {
    double above = 0.0;
    for (const int64_t live : trial.live) {
      above += std::max(static_cast<double>(live) / target_ - 1.0, 0.0);
    }
    const double peak = static_cast<double>(trial.peak_bytes) / target_ - 1.0;
    return extra_work(twice_, trial) / whole_ + kPeakWeight * std::max(peak, 0.0) +
           above / static_cast<double>(trial.live.size());
  }

  void move(std::vector<Again>& again) {
    const size_t at = random_.below(open_.size());
    change(again, at);
    switch (random_.below(4)) {
      case 0:
        change(again, random_.below(open_.size()));
        break;
      case 1:
        change(again, std::min(at + 1 + random_.below(3), open_.size() - 1));
        break;
      case 2: {
        const size_t end = std::min(at + 1 + random_.below(kLongestRun), open_.size());
        for (size_t i = at; i < end; ++i) of(again, i) = of(again, at);
        break;
      }
      default:
        break;
    }
  }

  [[nodiscard]] Again& of(std::vector<Again>& again, size_t index) const {
    return again[static_cast<size_t>(open_[index])];
  }

  // To one of the other two.
  void change(std::vector<Again>& again, size_t index) {
    const size_t next = static_cast<size_t>(of(again, index)) + 1 + random_.below(2);
    of(again, index) = static_cast<Again>(next % 3);
  }

  const Twice& twice_;
  const std::vector<int>& open_;
  double whole_;
  double target_;
  Random random_;
};

}  // namespace

Trial anneal(const Twice& twice, const std::vector<int>& open, Trial start, int64_t target_bytes) {
  if (open.empty()) return start;
  return Search(twice, open, target_bytes).run(std::move(start));
}

}  // namespace thimble::plan
