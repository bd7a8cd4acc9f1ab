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
  const auto values = [&](size_t i) {
    const Item& item = problem.items[i];
    return std::array{item.key(keys[0]), item.key(keys[1]), item.key(keys[2])};
  };
  return sorted_places(problem.items.size(),
                       [&](size_t a, size_t b) { return values(a) > values(b); });
}

}  // namespace thimble::plan
