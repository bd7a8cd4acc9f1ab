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
#include "plan/remat/recompute.h"
#include "plan/remat/storage.h"

namespace thimble::plan {

struct Variant {
  StepDecisions decisions;
  ir::Graph graph;
  int64_t bytes = 0;        // as a budget counts them
  int64_t arena_bytes = 0;  // of them
};

// Finds variants when they are first asked for. They do not depend on the budget and serve all
// budgets. Updates are tiled, or whole if that gives a smaller step: a tiled update needs the
// gradient's inputs and the optimizer's state at once.
class Variants {
 public:
  // saved: how activations are stored in 16 bits, if that was asked for. The choice depends on
  // neither budget nor threads, so results have the same bits with any.
  Variants(const ir::Graph& graph, const ArenaOptions& options, const ActivationStorage& saved);

  // Recomputes cheap nodes only.
  [[nodiscard]] const Variant& cheap(bool tiled = true);
  // Bytes weighed against work, for steps without a budget; see RecomputeOptions::slack.
  [[nodiscard]] const Variant& balanced();
  // As few bytes as can be.
  [[nodiscard]] const Variant& smallest(bool tiled);
  // Levels between the smallest (0) and the cheap variant (levels()), both excluded: the least work
  // for a fixed share of the bytes between them.
  [[nodiscard]] int levels() const;
  [[nodiscard]] const Variant& level(int number);
  [[nodiscard]] int64_t level_arena_bytes(int number);
  // Whether any updates can be tiled.
  [[nodiscard]] bool has_tiled_updates() const;

  // The variant of these decisions. Throws Error if they belong to another step.
  [[nodiscard]] Variant apply(const StepDecisions& decisions);

  // Intermediate steps, for the table of strategies: ordered, with tiled updates, with bit masks.
  [[nodiscard]] const ir::Graph& ordered() const { return orders_.front(); }
  [[nodiscard]] const ir::Graph& tiled() const { return tiled_; }
  [[nodiscard]] const ir::Graph& with_bit_masks(bool tiled) { return base(tiled).front(); }
  // Variants of the step without 16-bit activations; null if none are stored so.
  [[nodiscard]] Variants* exact() const { return exact_.get(); }

 private:
  [[nodiscard]] const std::vector<ir::Graph>& base(bool tiled);
  [[nodiscard]] Variant found(bool tiled, const RecomputeOptions& options);
  [[nodiscard]] Variant finished(StepDecisions decisions, ir::Graph graph) const;

  ArenaOptions options_;
  std::unique_ptr<Variants> exact_;
  std::vector<ir::Graph> orders_;
  ir::Graph tiled_;
  std::map<bool, std::vector<ir::Graph>> bases_;  // by whether updates are tiled
  std::map<bool, Variant> cheap_;
  std::map<bool, Variant> smallest_;
  std::map<int, Variant> levels_;
  std::optional<Variant> balanced_;  // empty until first asked for
};

// Keeps the variants of a step between plans of the same graph with the same options.
struct Memo {
  std::unique_ptr<Variants> variants;
};

}  // namespace thimble::plan
