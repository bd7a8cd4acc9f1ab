// The ways to run a step without a swap file, from the fastest to the smallest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/budget/decisions.h"
#include "plan/remat/activations_16bit.h"
#include "plan/remat/recompute.h"

namespace thimble::plan {

struct Variant {
  StepDecisions decisions;
  ir::Graph graph;
  int64_t bytes = 0;        // that a budget counts
  int64_t arena_bytes = 0;  // of them
};

// Variants do not depend on the budget: they are found once, when first asked for, and serve all
// budgets. Updates are tiled before nodes are chosen for recomputation, or, where that gets
// smaller, after: a tiled update needs the gradient's inputs and the optimizer's state at once.
class Variants {
 public:
  // saved: the storage of 16-bit activations, where that was asked for. What is stored so depends
  // on neither budget nor threads: the same bits come out with any.
  Variants(const ir::Graph& graph, const ArenaOptions& options, const ActivationStorage& saved);

  // Cheap nodes alone are recomputed.
  [[nodiscard]] const Variant& cheap(bool tiled_first = true);
  // Bytes weighed against work, where nobody names a budget; see RecomputeOptions::slack.
  [[nodiscard]] const Variant& balanced();
  // As few bytes as can be.
  [[nodiscard]] const Variant& smallest(bool tiled_first);
  // Levels between the smallest (0) and the cheap (levels()), neither included: the least work that
  // leaves a fixed share of the bytes between them alive.
  [[nodiscard]] int levels() const;
  [[nodiscard]] const Variant& level(int number);
  [[nodiscard]] int64_t level_arena_bytes(int number);
  // Whether tiling first or last makes a difference.
  [[nodiscard]] bool has_tiled_updates() const;

  // The variant that was decided before. Throws Error where the decisions are of another step.
  [[nodiscard]] Variant apply(const StepDecisions& decisions);

  // On the way: the step in its order, with tiled updates, and with bit masks.
  [[nodiscard]] const ir::Graph& ordered() const { return orders_.front(); }
  [[nodiscard]] const ir::Graph& tiled() const { return tiled_; }
  [[nodiscard]] const ir::Graph& with_bit_masks(bool tiled_first) {
    return base(tiled_first).front();
  }
  // Variants of the step before activations were stored in 16 bits; null: they are not.
  [[nodiscard]] Variants* exact() const { return exact_.get(); }

 private:
  [[nodiscard]] const std::vector<ir::Graph>& base(bool tiled_first);
  [[nodiscard]] Variant found(bool tiled_first, const RecomputeOptions& options);
  [[nodiscard]] Variant finished(StepDecisions decisions, ir::Graph graph) const;

  ArenaOptions options_;
  std::unique_ptr<Variants> exact_;
  std::vector<ir::Graph> orders_;
  ir::Graph tiled_;
  std::map<bool, std::vector<ir::Graph>> bases_;  // by tiled_first
  std::map<bool, Variant> cheap_;
  std::map<bool, Variant> smallest_;
  std::map<int, Variant> levels_;
  std::optional<Variant> balanced_;  // of no work: the cheap one is
};

// Keeps the variants of a step from one plan to the next: of the same graph, with the same options.
struct Memo {
  std::unique_ptr<Variants> variants;
};

}  // namespace thimble::plan
