// Choosing one option of each of some items, so that their gains are largest and their cost keeps a
// limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace thimble::search {

// Option 0 of an item is to leave it: it gains 0.
struct Item {
  struct Option {
    double gain = 0.0;
    int64_t bytes = 0;  // that it adds to the cost of any choice, at least
  };
  std::vector<Option> options;  // the others, from number 1 on
};

using Chosen = std::vector<int>;  // the option of each item

// The cost of a choice. Another option than 0 in the place of 0 never lowers it.
using Cost = std::function<int64_t(const Chosen&)>;

struct BestChoice {
  Chosen options;
  double gain = 0.0;
  int64_t cost = 0;
  bool is_best = true;      // proved; false: the search was cut short
  int64_t evaluations = 0;  // of the cost
};

struct SearchLimits {
  int64_t cost = 0;
  // Costs asked for before branch and bound is cut short and an evolutionary search goes on from
  // the best choice found, with as many again.
  int64_t evaluations = 20000;
  uint64_t seed = 0;                // of the evolutionary search
  std::function<bool()> stop = {};  // asked between evaluations
};

// The choice of largest gain within the limit, by branch and bound. The bound of the items that are
// not decided is the linear relaxation of the multiple-choice knapsack problem over their bytes.
// Source: Sinha and Zoltners, "The multiple-choice knapsack problem", 1979. Throws Error where even
// leaving all items costs more than the limit.
[[nodiscard]] BestChoice best_choice(const std::vector<Item>& items, const Cost& cost,
                                     const SearchLimits& limits);

}  // namespace thimble::search
