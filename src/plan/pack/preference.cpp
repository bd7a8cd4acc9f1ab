#include "plan/pack/preference.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace thimble::plan {
namespace {

// Largest value of any range in constant time: level k holds the maxima of 2^k neighbours.
class RangeMax {
 public:
  explicit RangeMax(const std::vector<int64_t>& values) : levels_{values} {
    for (size_t width = 2; width <= values.size(); width *= 2) {
      const std::vector<int64_t>& below = levels_.back();
      std::vector<int64_t> level(values.size() - width + 1);
      for (size_t i = 0; i < level.size(); ++i) {
        level[i] = std::max(below[i], below[i + width / 2]);
      }
      levels_.push_back(std::move(level));
    }
  }

  [[nodiscard]] int64_t of(int first, int last) const {
    const auto width = static_cast<unsigned>(last - first);
    const auto level = static_cast<size_t>(std::bit_width(width >> 1));
    const std::vector<int64_t>& maxima = levels_[level];
    return std::max(maxima[static_cast<size_t>(first)],
                    maxima[static_cast<size_t>(last) - (size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<int64_t>> levels_;
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

std::vector<int> rank_by(const Keys& keys, const Problem& problem) {
  const std::vector<Item>& items = problem.items;
  const RangeMax heaviest(problem.load);
  const std::vector<int> overlaps = count_overlaps(problem);
  std::vector<double> sums{0};
  for (const int64_t load : problem.load) sums.push_back(sums.back() + static_cast<double>(load));
  const auto value = [&](size_t i, Key key) -> double {
    const Item& item = items[i];
    switch (key) {
      case Key::load:
        return static_cast<double>(heaviest.of(item.first, item.last));
      case Key::load_sum:
        return sums[static_cast<size_t>(item.last)] - sums[static_cast<size_t>(item.first)];
      case Key::duration:
        return static_cast<double>(item.duration);
      case Key::size:
        return static_cast<double>(item.size);
      case Key::area:
        return static_cast<double>(item.duration) * static_cast<double>(item.size);
      case Key::overlaps:
        return overlaps[i];
    }
    return 0;
  };
  std::vector<std::array<double, 3>> values(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    for (size_t k = 0; k < keys.size(); ++k) values[i][k] = value(i, keys[k]);
  }
  return sorted_places(items.size(), [&](size_t a, size_t b) { return values[a] > values[b]; });
}

}  // namespace thimble::plan
