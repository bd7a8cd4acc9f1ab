#include "plan/pack/preference.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace thimble::plan {
namespace {

// Largest value of any range in constant time: level k holds the maxima of 2^k neighbours.
class RangeMax {
 public:
  explicit RangeMax(const std::vector<double>& values) : levels_{values} {
    for (size_t width = 2; width <= values.size(); width *= 2) {
      const std::vector<double>& below = levels_.back();
      std::vector<double> level(values.size() - width + 1);
      for (size_t i = 0; i < level.size(); ++i) {
        level[i] = std::max(below[i], below[i + width / 2]);
      }
      levels_.push_back(std::move(level));
    }
  }

  [[nodiscard]] double of(int first, int last) const {
    const auto width = static_cast<unsigned>(last - first);
    const auto level = static_cast<size_t>(std::bit_width(width >> 1));
    const std::vector<double>& maxima = levels_[level];
    return std::max(maxima[static_cast<size_t>(first)],
                    maxima[static_cast<size_t>(last) - (size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<double>> levels_;
};

// Items alive in a section of [first, last): those that start before its end, less those that are
// over before its begin.
std::vector<int> count_overlaps(const Problem& problem) {
  const auto sections = static_cast<size_t>(problem.sections());
  std::vector<int> started(sections + 1, 0);
  std::vector<int> ended(sections + 1, 0);
  for (const Item& item : problem.items) {
    ++started[static_cast<size_t>(item.first) + 1];
    ++ended[static_cast<size_t>(item.last)];
  }
  std::partial_sum(started.begin(), started.end(), started.begin());
  std::partial_sum(ended.begin(), ended.end(), ended.begin());
  std::vector<int> overlaps;
  for (const Item& item : problem.items) {
    overlaps.push_back(started[static_cast<size_t>(item.last)] -
                       ended[static_cast<size_t>(item.first)]);
  }
  return overlaps;
}

// The place of each of `count` indices when sorted; ties go by index.
template <class Before>
std::vector<int> sorted_places(size_t count, const Before& before) {
  std::vector<size_t> sorted(count);
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), before);
  std::vector<int> places(count);
  for (size_t place = 0; place < count; ++place) places[sorted[place]] = static_cast<int>(place);
  return places;
}

}  // namespace

std::vector<int> places(std::span<const int64_t> scores) {
  return sorted_places(scores.size(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
}

PackOrder::PackOrder(const Problem& problem)
    : problem_(problem), overlaps_(count_overlaps(problem)) {
  for (int64_t load : problem.load) {
    weights_.push_back(static_cast<double>(load) / static_cast<double>(problem.lower_bound));
  }
}

std::vector<int> PackOrder::rank(const Keys& keys) const {
  const std::vector<Item>& items = problem_.items;
  const RangeMax heaviest(weights_);
  std::vector<double> sums{0};
  for (double weight : weights_) sums.push_back(sums.back() + weight);
  const auto value = [&](size_t i, Key key) -> double {
    const Item& item = items[i];
    switch (key) {
      case Key::weight:
        return heaviest.of(item.first, item.last);
      case Key::weight_sum:
        return sums[static_cast<size_t>(item.last)] - sums[static_cast<size_t>(item.first)];
      case Key::duration:
        return static_cast<double>(item.duration);
      case Key::size:
        return static_cast<double>(item.size);
      case Key::area:
        return static_cast<double>(item.duration) * static_cast<double>(item.size);
      case Key::overlaps:
        return overlaps_[i];
    }
    return 0;
  };
  std::vector<std::array<double, 3>> values(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t k = 0; k < keys.size(); ++k) values[i][k] = value(i, keys[k]);
  }
  return sorted_places(items.size(), [&](size_t a, size_t b) { return values[a] > values[b]; });
}

std::vector<int> PackOrder::rank_roughly(const Keys& keys, std::mt19937_64& random) const {
  const std::vector<int> exact = rank(keys);
  std::vector<int64_t> moved;  // tenths of places
  for (int place : exact) {
    moved.push_back(int64_t{10} * place + static_cast<int64_t>(random() % exact.size()));
  }
  return places(moved);
}

void PackOrder::learn(std::span<const int64_t> failures, double decay, double gain) {
  const int64_t most = *std::max_element(failures.begin(), failures.end());
  if (most <= 0) return;
  growth_ *= decay;
  for (size_t s = 0; s < weights_.size(); ++s) {
    weights_[s] += gain * growth_ * static_cast<double>(failures[s]) / static_cast<double>(most);
  }
  const double heaviest = *std::max_element(weights_.begin(), weights_.end());
  for (double& weight : weights_) weight /= heaviest;
  growth_ /= heaviest;
}

}  // namespace thimble::plan
