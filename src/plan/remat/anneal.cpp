#include "plan/remat/anneal.h"

#include <algorithm>

#include "plan/nth.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Moves per pair of open nodes, and total schedule entries: less than a tenth of a second.
constexpr size_t kMovesOfPair = 2;
constexpr size_t kMaxSteps = 1'000'000;

// The first threshold, as a share of the step's work.
constexpr double kFirstThreshold = 0.02;

// Weight of the peak above the target, relative to work.
constexpr double kPeakWeight = 3.0;

constexpr size_t kLongestRun = 6;  // most nodes that one move sets to the same choice

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
  Search(const ScheduleBuilder& builder, const std::vector<int>& open, int64_t target_bytes)
      : builder_(builder),
        open_(open),
        whole_(work_of(builder.graph())),
        target_(static_cast<double>(target_bytes)) {}

  RematSchedule run(RematSchedule now) {
    double cost = cost_of(now);
    RematSchedule best = now;
    RematSchedule next;
    double best_cost = cost;
    const size_t moves =
        std::min(kMovesOfPair * open_.size() * open_.size(), kMaxSteps / now.entries.size());
    for (size_t i = 0; i < moves; ++i) {
      const double threshold =
          kFirstThreshold * (1.0 - static_cast<double>(i) / static_cast<double>(moves));
      next.recomputed = now.recomputed;
      move(next.recomputed);
      builder_.build(next);
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
  // The sum of three shares: work of recomputation, peak above the target, and the bytes above the
  // target over the whole step, so that moves lead below it.
  [[nodiscard]] double cost_of(const RematSchedule& schedule) const {
    double above = 0.0;
    for (const int64_t live : schedule.live) {
      above += std::max(static_cast<double>(live) / target_ - 1.0, 0.0);
    }
    const double peak = static_cast<double>(schedule.peak_bytes) / target_ - 1.0;
    return extra_work(builder_, schedule) / whole_ + kPeakWeight * std::max(peak, 0.0) +
           above / static_cast<double>(schedule.live.size());
  }

  void move(std::vector<Recompute>& recomputed) {
    const size_t at = random_.below(open_.size());
    change(recomputed, at);
    switch (random_.below(4)) {
      case 0:
        change(recomputed, random_.below(open_.size()));
        break;
      case 1:
        change(recomputed, std::min(at + 1 + random_.below(3), open_.size() - 1));
        break;
      case 2: {
        const size_t end = std::min(at + 1 + random_.below(kLongestRun), open_.size());
        for (size_t i = at; i < end; ++i) of(recomputed, i) = of(recomputed, at);
        break;
      }
      default:
        break;
    }
  }

  [[nodiscard]] Recompute& of(std::vector<Recompute>& recomputed, size_t index) const {
    return nth(recomputed, open_[index]);
  }

  // Changes one node to one of the other two choices.
  void change(std::vector<Recompute>& recomputed, size_t index) {
    const size_t next = static_cast<size_t>(of(recomputed, index)) + 1 + random_.below(2);
    of(recomputed, index) = static_cast<Recompute>(next % 3);
  }

  const ScheduleBuilder& builder_;
  const std::vector<int>& open_;
  double whole_;
  double target_;
  Random random_;
};

}  // namespace

RematSchedule anneal(const ScheduleBuilder& builder, const std::vector<int>& open,
                     RematSchedule start, int64_t target_bytes) {
  if (open.empty()) return start;
  return Search(builder, open, target_bytes).run(std::move(start));
}

}  // namespace thimble::plan
