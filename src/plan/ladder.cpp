#include "plan/ladder.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/halves.h"
#include "plan/immediate_update.h"
#include "plan/masks.h"
#include "plan/order.h"
#include "plan/recompute.h"
#include "plan/strategies.h"
#include "plan/swap.h"

namespace thimble::plan {
namespace {

// Plans that are tried to bring a swapping step into its budget; the last as small as it gets.
constexpr int kMaxRounds = 9;
constexpr int64_t kFinestStep = 100;  // of a target, by which the next one is lower

// Writing wears out flash memory, and a prediction may be wrong: swap has to be this much cheaper.
constexpr double kSwapHandicap = 1.1;

int64_t arena_bytes_left(const Plan& free, int64_t budget) {
  return std::max<int64_t>(budget - (counted_bytes(free) - free.arena_bytes), 1);
}

class Ladder {
 public:
  Ladder(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget)
      : options_(options),
        budget_(budget),
        times_(budget.times ? *budget.times : NodeTimes()),
        natural_(graph),
        orders_(orders_of(graph, options)),
        in_parts_(updated_in_parts()),
        masked_(keep_masks(in_parts_, options)),
        light_(store_halves(masked_.light, budget.saved, options)) {}

  Fitted run() {
    light_ms_ = times_.of(light_);
    Tried best = tried(light_);
    const bool must_fetch = budget_.in_file && !budget_.in_file->empty();
    if (must_fetch || !keeps(best)) best = chosen(std::move(best), must_fetch);
    Fitted result = std::move(best.fitted);
    result.arena.plan.swap_read_bytes = best.read_bytes;
    result.arena.plan.swap_written_bytes = best.written_bytes;
    result.arena.plan.swap_stall_ms = best.stall_ms;
    result.arena.plan.step_ms = light_ms_ + best.extra_ms;
    if (budget_.explain) explain(best, result.arena.plan);
    return result;
  }

 private:
  struct Tried {
    Fitted fitted;
    ir::Graph computed;  // without transfers
    double extra_ms = 0.0;
    double stall_ms = 0.0;
    int64_t read_bytes = 0;
    int64_t written_bytes = 0;
    int64_t values = 0;
    bool updates_whole = false;  // not in parts
  };

  [[nodiscard]] std::vector<ir::Graph> updated_in_parts() const {
    std::vector<ir::Graph> graphs;
    for (const ir::Graph& order : orders_) graphs.push_back(update_in_parts(order, options_));
    return graphs;
  }

  [[nodiscard]] int64_t bytes(const Tried& tried) const {
    return counted_bytes(tried.fitted.arena.plan);
  }
  [[nodiscard]] bool keeps(const Tried& tried) const {
    return budget_.bytes <= 0 || bytes(tried) <= budget_.bytes;
  }

  [[nodiscard]] Tried tried(ir::Graph graph) const {
    Tried result;
    result.fitted.arena = plan_arena(graph, options_);
    result.extra_ms = times_.of(graph) - light_ms_;
    result.computed = graph;
    result.fitted.graph = std::move(graph);
    return result;
  }

  // Whether a is to be preferred: what keeps the budget at the least time, else what is smallest.
  [[nodiscard]] bool better(const Tried& a, const Tried& b) const {
    if (keeps(a) != keeps(b)) return keeps(a);
    if (!keeps(a)) return bytes(a) < bytes(b);
    const auto cost = [](const Tried& tried) {
      return tried.stall_ms > 0.0 || tried.read_bytes > 0 ? tried.extra_ms * kSwapHandicap
                                                          : tried.extra_ms;
    };
    return cost(a) < cost(b);
  }

  // What the budget asks for beyond what costs little.
  [[nodiscard]] Tried chosen(Tried light, bool must_fetch) {
    const bool may_swap = (budget_.swap != Swap::never && can_swap()) || must_fetch;
    std::optional<Tried> best;
    const auto take = [&](Tried next) {
      if (!best || better(next, *best)) best = std::move(next);
    };
    if (may_swap) take(swapped(light_));
    const bool only_swap = must_fetch || budget_.swap == Swap::always;
    if (only_swap && keeps(*best)) return std::move(*best);
    const int64_t left = arena_bytes_left(light.fitted.arena.plan, budget_.bytes);
    Tried again = tried(fit_halves(masked_.orders, budget_.saved, options_, left));
    if (may_swap && !keeps(again)) {
      // Less is left to swap of a step that computes much again.
      take(swapped(again.computed));
      // An update in parts needs what its gradient is made of and the optimizer's state at once.
      Tried whole =
          swapped(store_halves(recompute(orders_, {.arena = options_}), budget_.saved, options_));
      whole.updates_whole = true;
      take(std::move(whole));
      if (!asks_for_least()) {
        const int64_t halfway =
            (light.fitted.arena.plan.arena_bytes + again.fitted.arena.plan.arena_bytes) / 2;
        take(swapped(fit_halves(masked_.orders, budget_.saved, options_, halfway)));
      }
    }
    if (!must_fetch) {
      take(std::move(again));
      take(std::move(light));
    }
    return std::move(*best);
  }

  // A budget of next to nothing asks for the smallest plan, which is the same for any file.
  [[nodiscard]] bool asks_for_least() const { return budget_.bytes <= budget_.least_staging_bytes; }

  [[nodiscard]] bool can_swap() {
    rates_.staging_bytes = budget_.least_staging_bytes;
    if (!budget_.rates || asks_for_least()) return true;
    const std::optional<SwapRates> rates = budget_.rates();
    if (rates) rates_ = *rates;
    return rates.has_value();
  }

  [[nodiscard]] Tried swapped(const ir::Graph& graph) const {
    std::optional<Tried> best;
    int64_t target = std::max<int64_t>(budget_.bytes - rates_.staging_bytes, 0);
    for (int round = 1; round <= kMaxRounds; ++round) {
      if (round == kMaxRounds) target = 0;
      const bool is_last = target == 0;
      Tried next = swapped(graph, target);
      // What is read ahead fills every gap, which is hard to pack.
      const int64_t excess = std::max(bytes(next) - budget_.bytes, target / kFinestStep);
      target = std::max<int64_t>(target - excess, 0);
      if (!best || better(next, *best)) best = std::move(next);
      if (keeps(*best) || is_last) break;
    }
    return std::move(*best);
  }

  [[nodiscard]] Tried swapped(const ir::Graph& graph, int64_t target) const {
    SwapOptions wanted{.arena = options_,
                       .target_bytes = target,
                       .in_file = budget_.in_file,
                       .smallest_bytes = budget_.smallest_swapped_bytes};
    for (const ir::Node& node : graph.nodes) {
      wanted.costs.node_ms.push_back(times_.of(graph, node));
    }
    // As small as it gets is what it is on every machine.
    SwapRates rates = rates_;
    if (target == 0) rates = {.staging_bytes = budget_.least_staging_bytes};
    wanted.costs.read_ms_per_byte = rates.read_ms_per_byte;
    wanted.costs.write_ms_per_byte = rates.write_ms_per_byte;
    wanted.costs.transfer_ms = rates.transfer_ms;
    Swapped swap = plan::swap(graph, wanted);
    Tried result;
    result.computed = graph;
    result.extra_ms = times_.of(graph) - light_ms_ + swap.stall_ms;
    result.stall_ms = swap.stall_ms;
    result.read_bytes = swap.read_bytes;
    result.written_bytes = swap.written_bytes;
    result.values = swap.values;
    result.fitted.arena = plan_arena(swap.graph, options_, swap.in_file);
    if (!swap.slot_bytes.empty()) {
      Plan& plan = result.fitted.arena.plan;
      plan.staging_bytes = rates.staging_bytes;
      plan.planned_peak_bytes += plan.staging_bytes;
      plan.lower_bound_bytes += plan.staging_bytes;
    }
    result.fitted.graph = std::move(swap.graph);
    result.fitted.in_file = std::move(swap.in_file);
    result.fitted.slot_bytes = std::move(swap.slot_bytes);
    return result;
  }

  void explain(const Tried& best, Plan& plan) const {
    Strategies list(options_, times_);
    list.start(natural_);
    list.add("order and immediate update", orders_.front());
    if (best.updates_whole) {
      list.add("activations and norms made again", best.computed);
    } else {
      list.add("updates in parts", in_parts_.front());
      list.add("bits kept in place of values", masked_.orders.front());
      list.add("activations and norms made again", masked_.light);
      list.add_lossy("activations in 16 bits", light_);
    }
    list.add("recomputation", best.computed);
    if (best.values > 0) {
      list.add_swap(plan, best.values, best.stall_ms);
    }
    plan.strategies = std::move(list).finish();
  }

  const ArenaOptions& options_;
  const Budget& budget_;
  NodeTimes times_;
  const ir::Graph& natural_;
  std::vector<ir::Graph> orders_;
  std::vector<ir::Graph> in_parts_;  // likewise
  Masked masked_;                    // likewise, and what costs little
  ir::Graph light_;                  // the same, with what is asked for anyway
  double light_ms_ = 0.0;
  SwapRates rates_;
};

}  // namespace

int64_t counted_bytes(const Plan& plan) {
  return plan.planned_peak_bytes - plan.constant_bytes - plan.constant_padding_bytes;
}

Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget) {
  return Ladder(graph, options, budget).run();
}

}  // namespace thimble::plan
