#include "search/options.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace thimble::search {
namespace {

// Raised gains of one item for more bytes: a side of the convex hull of its options.
struct Step {
  double gain = 0.0;
  int64_t bytes = 0;
};

double gain_of(const std::vector<Item>& items, const Chosen& chosen) {
  double gain = 0.0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (chosen[i] > 0) gain += items[i].options[static_cast<size_t>(chosen[i] - 1)].gain;
  }
  return gain;
}

// The hull of an item's options, from none on, in the order of falling gain a byte.
std::vector<Step> hull_of(const Item& item) {
  std::vector<Step> points{{0.0, 0}};
  std::vector<Item::Option> options = item.options;
  std::sort(options.begin(), options.end(), [](const auto& a, const auto& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.gain > b.gain;
  });
  for (const Item::Option& option : options) {
    if (option.gain <= points.back().gain) continue;
    if (option.bytes == points.back().bytes) {  // above it, for nothing
      points.back().gain = option.gain;
    } else {
      points.push_back({option.gain, option.bytes});
    }
    // A point below the line between its neighbours is none of the hull.
    while (points.size() >= 3) {
      const Step& a = points[points.size() - 3];
      const Step& b = points[points.size() - 2];
      const Step& c = points.back();
      const auto rise = [](const Step& from, const Step& to) {
        return (to.gain - from.gain) / static_cast<double>(to.bytes - from.bytes);
      };
      if (rise(a, b) > rise(b, c)) break;
      points.erase(points.end() - 2);
    }
  }
  std::vector<Step> steps;
  if (points[0].gain > 0.0) steps.push_back({points[0].gain, 0});
  for (size_t i = 1; i < points.size(); ++i) {
    steps.push_back({points[i].gain - points[i - 1].gain, points[i].bytes - points[i - 1].bytes});
  }
  return steps;
}

// Costs of choices, each asked for once.
class Costs {
 public:
  Costs(const Cost& cost, const SearchLimits& limits) : cost_(cost), limits_(limits) {}

  int64_t of(const Chosen& chosen) {
    const auto known = known_.find(chosen);
    if (known != known_.end()) return known->second;
    return known_[chosen] = cost_(chosen);
  }
  [[nodiscard]] int64_t count() const { return static_cast<int64_t>(known_.size()); }
  [[nodiscard]] bool stopped() const { return limits_.stop && limits_.stop(); }

 private:
  const Cost& cost_;
  const SearchLimits& limits_;
  std::map<Chosen, int64_t> known_;
};

class BranchAndBound {
 public:
  BranchAndBound(const std::vector<Item>& items, Costs& costs, const SearchLimits& limits)
      : items_(items), costs_(costs), limits_(limits), order_(items.size()) {
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto most = [&](size_t i) {
      double gain = 0.0;
      for (const Item::Option& option : items_[i].options) gain = std::max(gain, option.gain);
      return gain;
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](size_t a, size_t b) { return most(a) > most(b); });
    // The steps of all items from each place of the order on, the best first.
    rest_.resize(items.size() + 1);
    for (size_t place = items.size(); place-- > 0;) {
      rest_[place] = rest_[place + 1];
      for (const Step& step : hull_of(items_[order_[place]])) rest_[place].push_back(step);
      std::stable_sort(rest_[place].begin(), rest_[place].end(), [](const Step& a, const Step& b) {
        return a.gain * static_cast<double>(b.bytes) > b.gain * static_cast<double>(a.bytes);
      });
    }
  }

  BestChoice run() {
    best_.options.assign(items_.size(), 0);
    best_.cost = costs_.of(best_.options);
    if (best_.cost > limits_.cost) {
      throw Error("search", fmt::format("the least takes {} bytes, {} more than the limit",
                                        best_.cost, best_.cost - limits_.cost));
    }
    chosen_ = best_.options;
    descend(0, 0.0, best_.cost);
    best_.is_best = !cut_short_;
    return best_;
  }

 private:
  // The most that the items from a place on may gain with so many bytes.
  [[nodiscard]] double bound(size_t place, int64_t bytes) const {
    double gain = 0.0;
    for (const Step& step : rest_[place]) {
      if (step.bytes <= bytes) {
        gain += step.gain;
        bytes -= step.bytes;
        continue;
      }
      return gain + step.gain * static_cast<double>(bytes) / static_cast<double>(step.bytes);
    }
    return gain;
  }

  void descend(size_t place, double gain, int64_t cost) {
    if (gain > best_.gain) best_ = {chosen_, gain, cost};
    if (place == order_.size()) return;
    // Sums in another order differ by their rounding.
    constexpr double kRounding = 1e-12;
    if (gain + bound(place, limits_.cost - cost) <= best_.gain + kRounding) return;
    const size_t i = order_[place];
    const std::vector<Item::Option>& options = items_[i].options;
    std::vector<size_t> numbers(options.size());
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    std::stable_sort(numbers.begin(), numbers.end(),
                     [&](size_t a, size_t b) { return options[a].gain > options[b].gain; });
    for (const size_t number : numbers) {
      if (options[number].gain <= 0.0 || cost + options[number].bytes > limits_.cost) continue;
      if (costs_.count() >= limits_.evaluations || costs_.stopped()) {
        cut_short_ = true;
        break;
      }
      chosen_[i] = static_cast<int>(number) + 1;
      const int64_t with = costs_.of(chosen_);
      if (with <= limits_.cost) descend(place + 1, gain + options[number].gain, with);
      chosen_[i] = 0;
      if (cut_short_) break;
    }
    if (!cut_short_) descend(place + 1, gain, cost);
  }

  const std::vector<Item>& items_;
  Costs& costs_;
  const SearchLimits& limits_;
  std::vector<size_t> order_;
  std::vector<std::vector<Step>> rest_;
  Chosen chosen_;
  BestChoice best_;
  bool cut_short_ = false;
};

// Improves a choice: children of two parents, each with some options drawn anew.
class Evolution {
 public:
  Evolution(const std::vector<Item>& items, Costs& costs, const SearchLimits& limits)
      : items_(items), costs_(costs), limits_(limits), random_(limits.seed) {}

  BestChoice run(const BestChoice& from) {
    std::vector<BestChoice> all{from};
    const int64_t most = costs_.count() + limits_.evaluations;
    // Children that were seen before cost no evaluation.
    for (int64_t tries = 0; tries < 4 * limits_.evaluations && costs_.count() < most; ++tries) {
      if (costs_.stopped()) break;
      const Chosen child = child_of(all);
      const double gain = gain_of(items_, child);
      if (all.size() == kPopulation && gain <= all.back().gain) continue;
      const bool known = std::any_of(all.begin(), all.end(),
                                     [&](const BestChoice& one) { return one.options == child; });
      if (known) continue;
      const int64_t cost = costs_.of(child);
      if (cost > limits_.cost) continue;
      all.push_back({child, gain, cost});
      std::stable_sort(all.begin(), all.end(),
                       [](const BestChoice& a, const BestChoice& b) { return a.gain > b.gain; });
      if (all.size() > kPopulation) all.pop_back();
    }
    return all.front();
  }

 private:
  static constexpr size_t kPopulation = 64;

  Chosen child_of(const std::vector<BestChoice>& parents) {
    const Chosen& a = parents[random_() % parents.size()].options;
    const Chosen& b = parents[random_() % parents.size()].options;
    Chosen child(a.size());
    for (size_t i = 0; i < child.size(); ++i) child[i] = random_() % 2 == 0 ? a[i] : b[i];
    for (uint64_t left = 1 + random_() % 3; left > 0; --left) {
      const size_t i = random_() % child.size();
      child[i] = static_cast<int>(random_() % (items_[i].options.size() + 1));
    }
    return child;
  }

  const std::vector<Item>& items_;
  Costs& costs_;
  const SearchLimits& limits_;
  std::mt19937_64 random_;
};

}  // namespace

BestChoice best_choice(const std::vector<Item>& items, const Cost& cost,
                       const SearchLimits& limits) {
  Costs costs(cost, limits);
  BestChoice best = BranchAndBound(items, costs, limits).run();
  if (!best.is_best) {
    best = Evolution(items, costs, limits).run(best);
    best.is_best = false;
  }
  best.evaluations = costs.count();
  return best;
}

}  // namespace thimble::search
