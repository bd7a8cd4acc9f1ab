#include "plan/budget/fit_arena.h"

#include <algorithm>
#include <utility>

#include "plan/order/order.h"
#include "plan/update/immediate_update.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Plans that are tried to bring an arena into a budget; the last as small as it gets.
constexpr int kMaxFitRounds = 5;

// A target of so small a part of what lives is often out of reach, and it takes less time to find
// the smallest there is than to find that out on the way.
constexpr int64_t kFar = 3;

// Of the work of a step: what products may do again where nobody asked for less memory.
constexpr double kSlack = 0.08;

}  // namespace

const ir::Graph& ArenaFitter::light() {
  if (!light_) light_ = recompute(orders_, {.arena = options_});
  return *light_;
}

const ir::Graph& ArenaFitter::smallest() {
  if (!smallest_) smallest_ = recomputed(0);
  return *smallest_;
}

const ir::Graph& ArenaFitter::balanced() {
  if (!is_weighed_ && has_late_part(light())) {
    ir::Graph more = recomputed({.arena = options_, .slack = kSlack});
    const double work = work_of(*light_);
    const double more_work = work_of(more);
    // What follows the choice, another order and updates in parts, counts as well.
    const auto bytes = [this](const ir::Graph& graph) {
      return static_cast<double>(counted_bytes(plan_arena(graph, options_).plan));
    };
    if (more_work <= (1.0 + kSlack) * work && bytes(more) * more_work < bytes(*light_) * work) {
      balanced_ = std::move(more);
    }
  }
  is_weighed_ = true;
  return balanced_ ? *balanced_ : light();
}

ir::Graph ArenaFitter::recomputed(int64_t target) const {
  return recomputed({.arena = options_, .target_bytes = target, .any_op = true});
}

ir::Graph ArenaFitter::recomputed(const RecomputeOptions& options) const {
  ir::Graph again = recompute(orders_, options);
  // Once it is settled what lives when, more updates may be worth doing in parts, and then another
  // order may be better.
  ir::Graph in_parts = update_in_parts_as_ordered(again, options_);
  if (in_parts.nodes.size() == again.nodes.size()) return again;
  return order_nodes(in_parts, options_);
}

ir::Graph ArenaFitter::fit(int64_t budget) {
  ir::Graph best = light();
  if (budget <= 0 || !has_late_part(best)) return best;
  int64_t least = plan_arena(best, options_).plan.arena_bytes;
  // Packing may take a little more than what lives: then less has to live. Where that is out of
  // reach, as little as can be.
  int64_t target = budget < kAlignment ? 0 : budget;
  if (target < live_peak_bytes(best, options_) / kFar &&
      live_peak_bytes(smallest(), options_) > target) {
    target = 0;
  }
  for (int round = 1; round <= kMaxFitRounds && least > budget; ++round) {
    if (round == kMaxFitRounds) target = 0;
    ir::Graph next = target == 0 ? smallest() : recomputed(target);
    const bool is_smallest = target == 0 || live_peak_bytes(next, options_) > target;
    if (is_smallest && !smallest_) smallest_ = next;
    const int64_t bytes = plan_arena(next, options_).plan.arena_bytes;
    if (bytes < least) {
      best = std::move(next);
      least = bytes;
    }
    if (is_smallest) break;
    target = std::max<int64_t>(target - std::max<int64_t>(bytes - budget, kAlignment), 0);
  }
  return best;
}

}  // namespace thimble::plan
