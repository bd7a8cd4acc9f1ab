#include "plan/pack/preference.h"

#include <algorithm>
#include <numeric>

namespace thimble::plan {
namespace {

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
  const auto value = [&](size_t i, Key key) -> double {
    const Item& item = items[i];
    switch (key) {
      case Key::load:
        return static_cast<double>(item.largest_load);
      case Key::load_sum:
        return item.load_sum;
      case Key::duration:
        return static_cast<double>(item.duration);
      case Key::size:
        return static_cast<double>(item.size);
      case Key::area:
        return static_cast<double>(item.duration) * static_cast<double>(item.size);
      case Key::overlaps:
        return item.overlaps;
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
