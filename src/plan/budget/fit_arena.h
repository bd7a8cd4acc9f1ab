// What runs again so that a step keeps a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/remat/rematerialize.h"

namespace thimble::plan {

// Answers budget after budget for one step; what several of them ask for is found once.
class ArenaFitter {
 public:
  // orders: the step in one or several orders, at least one; see recompute.
  ArenaFitter(std::vector<ir::Graph> orders, const ArenaOptions& options)
      : orders_(std::move(orders)), options_(options) {}

  [[nodiscard]] const std::vector<ir::Graph>& orders() const { return orders_; }
  // What costs little runs again.
  [[nodiscard]] const ir::Graph& light();
  // And products that are little work for what they make, where that is worth it; see
  // RecomputeOptions::slack.
  [[nodiscard]] const ir::Graph& balanced();
  // The least work that brings the packed arena into a budget (bytes; 0: none); as small as it gets
  // where there is no such.
  [[nodiscard]] ir::Graph fit(int64_t budget);

 private:
  // With as little alive as was asked for, in bytes; 0: as little as can be.
  [[nodiscard]] ir::Graph recomputed(int64_t target) const;
  [[nodiscard]] ir::Graph recomputed(const RecomputeOptions& options) const;
  [[nodiscard]] const ir::Graph& smallest();

  std::vector<ir::Graph> orders_;
  ArenaOptions options_;
  std::optional<ir::Graph> light_;
  std::optional<ir::Graph> balanced_;  // none: light
  bool is_weighed_ = false;            // whether balanced_ is known
  std::optional<ir::Graph> smallest_;
};

}  // namespace thimble::plan
