#include "import/parts.h"

#include <thimble/ops.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace thimble::importer {
namespace {

constexpr size_t kMostParts = 32;  // of thimble's concat and split

}  // namespace

Value concatenated(std::vector<Value> parts, int64_t axis) {
  while (parts.size() > 1) {
    std::vector<Value> wider;
    for (size_t i = 0; i < parts.size(); i += kMostParts) {
      const size_t end = std::min(parts.size(), i + kMostParts);
      wider.push_back(concat(
          {parts.begin() + static_cast<int64_t>(i), parts.begin() + static_cast<int64_t>(end)},
          {.axis = axis}));
    }
    parts = std::move(wider);
  }
  return parts.at(0);
}

std::vector<Value> split_into(Value x, int64_t axis, const std::vector<int64_t>& sizes) {
  if (sizes.size() <= kMostParts) return split(x, {.axis = axis, .sizes = sizes});
  // First into groups of as many parts, then each group.
  const size_t each = (sizes.size() + kMostParts - 1) / kMostParts;
  std::vector<std::vector<int64_t>> groups;
  std::vector<int64_t> wide;
  for (size_t i = 0; i < sizes.size(); i += each) {
    const std::span<const int64_t> group(sizes.data() + i, std::min(each, sizes.size() - i));
    groups.emplace_back(group.begin(), group.end());
    wide.push_back(std::accumulate(group.begin(), group.end(), int64_t{0}));
  }
  std::vector<Value> parts;
  const std::vector<Value> cut = split(x, {.axis = axis, .sizes = wide});
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<Value> inner = split_into(cut[i], axis, groups[i]);
    parts.insert(parts.end(), inner.begin(), inner.end());
  }
  return parts;
}

}  // namespace thimble::importer
