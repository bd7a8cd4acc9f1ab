// What a step can be made into without a swap file.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/fit_arena.h"
#include "plan/halves.h"

namespace thimble::plan {

// A step whose updates are settled, and for any budget what is computed again.
class Variant {
 public:
  // orders: the step in one or several orders. saved: how values may wait for the backward part.
  Variant(std::vector<ir::Graph> orders, const ArenaOptions& options, HalfStorage saved)
      : fitter_(std::move(orders), options), saved_(std::move(saved)) {}

  [[nodiscard]] const ir::Graph& ordered() const { return fitter_.orders().front(); }
  // What costs little is computed again, and then stored as asked for.
  [[nodiscard]] const ir::Graph& light_whole() { return fitter_.light(); }
  [[nodiscard]] const ir::Graph& light();
  // The least work that brings the arena into a budget, in bytes; see ArenaFitter::fit.
  [[nodiscard]] ir::Graph fit(int64_t budget) { return fit_halves(fitter_, saved_, budget); }

 private:
  ArenaFitter fitter_;
  HalfStorage saved_;
  std::optional<ir::Graph> light_;
};

// The variants of a step, found once for all budgets. An update in parts needs what its gradient is
// made of and the optimizer's state at once: where much is computed again, or swapped, it may be
// better to settle that with whole updates first.
class Variants {
 public:
  // saved: see Variant; nothing: values wait as they are.
  Variants(const ir::Graph& graph, const ArenaOptions& options, const HalfStorage& saved);

  // In its order, all updates whole; and in parts.
  [[nodiscard]] const ir::Graph& ordered() const { return orders_.front(); }
  [[nodiscard]] const ir::Graph& updated_in_parts() const { return in_parts_; }
  [[nodiscard]] Variant& in_parts_first() { return *parts_; }
  [[nodiscard]] Variant& whole_first();

 private:
  ArenaOptions options_;
  HalfStorage saved_;
  std::vector<ir::Graph> orders_;
  ir::Graph in_parts_;
  std::optional<Variant> parts_;
  std::optional<Variant> whole_;
};

// Keeps the variants of a step from one plan to the next: of the same graph, with the same options.
struct Memo {
  std::unique_ptr<Variants> variants;
};

}  // namespace thimble::plan
