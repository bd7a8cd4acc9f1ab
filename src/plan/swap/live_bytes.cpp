#include "plan/swap/live_bytes.h"

#include <algorithm>

namespace thimble::plan {
namespace {

constexpr int kBlockSteps = 64;

}  // namespace

LiveBytes::LiveBytes(const Live& live)
    : values_(live), blocks_((live.size() + kBlockSteps - 1) / kBlockSteps) {
  for (size_t block = 0; block < blocks_.size(); ++block) find_extremes(static_cast<int>(block));
}

int LiveBytes::end_of(int block) const {
  return std::min((block + 1) * kBlockSteps, static_cast<int>(values_.size()));
}

template <typename Use>
void LiveBytes::for_each_block(int first, int last, const Use& use) {
  for (int step = first; step < last;) {
    const int block = step / kBlockSteps;
    const int end = std::min(last, (block + 1) * kBlockSteps);
    use(block, step, end);
    step = end;
  }
}

void LiveBytes::find_extremes(int number) {
  Block& block = blocks_[static_cast<size_t>(number)];
  const auto [least, most] =
      std::minmax_element(values_.begin() + number * kBlockSteps, values_.begin() + end_of(number));
  block.least = *least + block.added;
  block.most = *most + block.added;
}

void LiveBytes::add(int first, int last, int64_t bytes) {
  for_each_block(first, last, [&](int number, int from, int to) {
    if (from == number * kBlockSteps && to == end_of(number)) {
      Block& block = blocks_[static_cast<size_t>(number)];
      block.added += bytes;
      block.most += bytes;
      block.least += bytes;
      return;
    }
    for (int step = from; step < to; ++step) values_[static_cast<size_t>(step)] += bytes;
    find_extremes(number);
  });
}

int LiveBytes::peak_step() const {
  const auto highest =
      std::max_element(blocks_.begin(), blocks_.end(),
                       [](const Block& a, const Block& b) { return a.most < b.most; });
  if (highest == blocks_.end()) return -1;
  const auto number = static_cast<int>(highest - blocks_.begin());
  const auto begin = values_.begin() + number * kBlockSteps;
  const auto step =
      std::find(begin, values_.begin() + end_of(number), highest->most - highest->added);
  return static_cast<int>(step - values_.begin());
}

int64_t LiveBytes::peak() const {
  int64_t peak = 0;
  for (const Block& block : blocks_) peak = std::max(peak, block.most);
  return peak;
}

int64_t LiveBytes::above(int64_t target, int first, int last, int64_t bytes) const {
  int64_t sum = 0;
  for_each_block(first, last, [&](int number, int from, int to) {
    const Block& block = blocks_[static_cast<size_t>(number)];
    if (block.most <= target) return;
    if (block.least - target >= bytes) {
      sum += bytes * (to - from);
      return;
    }
    const int64_t base = target - block.added;
    for (int step = from; step < to; ++step)
      sum += std::clamp<int64_t>(values_[static_cast<size_t>(step)] - base, 0, bytes);
  });
  return sum;
}

Live LiveBytes::values() const {
  Live live = values_;
  for (size_t step = 0; step < live.size(); ++step) live[step] += blocks_[step / kBlockSteps].added;
  return live;
}

}  // namespace thimble::plan
