// The orders in which packers prefer buffers, learned from where earlier tries failed.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "plan/pack/problem.h"

namespace thimble::plan {

// What an item is ranked by, the largest first.
enum class Key {
  weight,      // of the heaviest section it is alive in
  weight_sum,  // of all its sections
  duration,
  size,
  area,      // duration * size
  overlaps,  // items alive at a time when it is
};

using Keys = std::array<Key, 3>;

// places[i]: the place of scores[i] when sorted, the smallest first; ties go by index.
[[nodiscard]] std::vector<int> places(std::span<const int64_t> scores);

// Weights of the sections, at first their loads. Sections where a try failed gain weight, so that
// the next order serves the buffers alive there first.
class PackOrder {
 public:
  explicit PackOrder(const Problem& problem);

  // rank[item]: its place in the order, 0 first. Ties go by index.
  [[nodiscard]] std::vector<int> rank(const Keys& keys) const;
  // The same with places moved at random by up to a tenth of their number.
  [[nodiscard]] std::vector<int> rank_roughly(const Keys& keys, std::mt19937_64& random) const;

  // failures: how often a try failed, per section. decay: how much more this try counts than the
  // one before; gain: weight for the section that failed most, where the largest weight is 1.
  void learn(std::span<const int64_t> failures, double decay, double gain);

 private:
  const Problem& problem_;
  std::vector<double> weights_;
  std::vector<int> overlaps_;
  double growth_ = 1;
};

}  // namespace thimble::plan
