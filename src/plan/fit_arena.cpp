#include "plan/fit_arena.h"

#include <algorithm>
#include <utility>

#include "plan/immediate_update.h"
#include "plan/order.h"
#include "plan/recompute.h"

namespace thimble::plan {
namespace {

// Plans that are tried to bring an arena into a budget; the last as small as it gets.
constexpr int kMaxRounds = 5;

}  // namespace

const ir::Graph& ArenaFitter::light() {
  if (!light_) light_ = recompute(orders_, {.arena = options_});
  return *light_;
}

const ir::Graph& ArenaFitter::smallest() {
  if (!smallest_) smallest_ = recomputed(0);
  return *smallest_;
}

ir::Graph ArenaFitter::recomputed(int64_t target) const {
  ir::Graph again = recompute(orders_, {.arena = options_, .target_bytes = target, .any_op = true});
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
  for (int round = 1; round <= kMaxRounds && least > budget; ++round) {
    if (round == kMaxRounds) target = 0;
    ir::Graph next = target == 0 ? smallest() : recomputed(target);
    const Plan plan = plan_arena(next, options_).plan;
    const int64_t live = plan.lower_bound_bytes - (plan.planned_peak_bytes - plan.arena_bytes);
    if (plan.arena_bytes < least) {
      best = std::move(next);
      least = plan.arena_bytes;
    }
    if (target == 0) break;
    const bool is_out_of_reach = live > target;
    target -= std::max<int64_t>(plan.arena_bytes - budget, kAlignment);
    if (is_out_of_reach || target < 0) target = 0;
  }
  return best;
}

}  // namespace thimble::plan
