// What a step can be made into without a swap file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/budget/fit_arena.h"
#include "plan/remat/activations_16bit.h"

namespace thimble::plan {

// The variants of a step, found once for all budgets. An update in parts needs what its gradient is
// made of and the optimizer's state at once: where much is computed again, or swapped, it may be
// better to settle that with whole updates first.
class Variants {
 public:
  // saved: how values may wait for the backward part; nothing: as they are. Which of them do is
  // settled before all that budgets and threads ask for: the same bits come out with any.
  Variants(const ir::Graph& graph, const ArenaOptions& options, const HalfStorage& saved);

  // In its order, all updates whole; and in parts.
  [[nodiscard]] const ir::Graph& ordered() const { return orders_.front(); }
  [[nodiscard]] const ir::Graph& updated_in_parts() const { return in_parts_; }
  [[nodiscard]] ArenaFitter& in_parts_first() { return *parts_; }
  [[nodiscard]] ArenaFitter& whole_first();
  // Those of the step whose values wait as they are; null: of this one.
  [[nodiscard]] Variants* exact() const { return exact_.get(); }

 private:
  ArenaOptions options_;
  std::unique_ptr<Variants> exact_;
  std::vector<ir::Graph> orders_;
  ir::Graph in_parts_;
  std::optional<ArenaFitter> parts_;
  std::optional<ArenaFitter> whole_;
};

// Keeps the variants of a step from one plan to the next: of the same graph, with the same options.
struct Memo {
  std::unique_ptr<Variants> variants;
};

}  // namespace thimble::plan
