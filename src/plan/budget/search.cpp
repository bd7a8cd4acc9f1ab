#include "plan/budget/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/budget/strategies.h"
#include "plan/budget/variants.h"
#include "plan/swap/swap.h"

namespace thimble::plan {
namespace {

// Plans that are tried to bring a swapping step into its budget, before the smallest there is.
constexpr int kMaxRounds = 8;
constexpr int64_t kFinestStep = 100;  // of a target, by which the next one is lower

// Writing wears out flash memory, and a prediction may be wrong: swap has to be this much cheaper.
constexpr double kSwapHandicap = 1.1;

// Of the way from computing much again to swapping alone, in which mixtures are looked for; in
// longer steps halfway alone, for each takes a while to find.
constexpr double kFinestMixture = 0.125;
constexpr size_t kMostMixedNodes = 1000;

int64_t arena_bytes_left(const Plan& free, int64_t budget) {
  return std::max<int64_t>(budget - (counted_bytes(free) - free.arena_bytes), 1);
}

// 0 with all staging, 1 with the least.
double scarcity(const SwapRates& rates, int64_t staging) {
  const int64_t least = rates.least_staging_bytes;
  if (least <= 0 || staging >= rates.staging_bytes) return 0.0;
  const auto inverse = [](int64_t bytes) { return 1.0 / static_cast<double>(bytes); };
  const double of_all = inverse(rates.staging_bytes);
  return (inverse(staging) - of_all) / (inverse(least) - of_all);
}

class Ladder {
 public:
  Ladder(const ir::Graph& graph, Variants& variants, const ArenaOptions& options,
         const Budget& budget)
      : options_(options),
        budget_(budget),
        times_(budget.times ? *budget.times : NodeTimes()),
        natural_(graph),
        variants_(variants),
        light_(variants.in_parts_first().light()) {}

  Fitted run() {
    light_ms_ = times_.of(light_);
    // Without a budget nobody asks for the fastest step.
    Tried best = tried(budget_.bytes > 0 ? light_ : variants_.in_parts_first().balanced());
    const bool must_fetch = budget_.in_file && !budget_.in_file->empty();
    if (must_fetch || !keeps(best)) best = chosen(best.fitted.arena.plan, must_fetch);
    Plan& plan = best.fitted.arena.plan;
    plan.swap_read_bytes = best.read_bytes;
    plan.swap_written_bytes = best.written_bytes;
    plan.swap_busy_ms = best.busy_ms;
    plan.swap_stall_ms = best.stall_ms;
    plan.step_ms = light_ms_ + best.extra_ms;
    if (budget_.explain) explain(best, plan);
    return std::move(best.fitted);
  }

 private:
  struct Tried {
    Fitted fitted;
    std::optional<ir::Graph> without_transfers;  // where there are any
    double extra_ms = 0.0;
    double busy_ms = 0.0;
    double stall_ms = 0.0;
    int64_t read_bytes = 0;
    int64_t written_bytes = 0;
    int64_t values = 0;
    bool is_smallest = false;  // however low the target
    bool whole_first = false;  // what the updates were while the rest was settled
  };

  [[nodiscard]] static const ir::Graph& computed(const Tried& tried) {
    return tried.without_transfers ? *tried.without_transfers : tried.fitted.graph;
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
  [[nodiscard]] Tried chosen(const Plan& light, bool must_fetch) {
    const bool may_swap = budget_.swap != Swap::never || must_fetch;
    if (may_swap) ask_for_rates();
    std::optional<Tried> best;
    const auto take = [&](Tried next) {
      if (!best || better(next, *best)) best = std::move(next);
    };
    if (may_swap) take(swapped(light_));
    const bool only_swap = must_fetch || budget_.swap == Swap::always;
    if (only_swap && keeps(*best)) return std::move(*best);
    const int64_t left = arena_bytes_left(light, budget_.bytes);
    Tried again = tried(variants_.in_parts_first().fit(left));
    if (!keeps(again)) {
      Tried whole = tried(variants_.whole_first().fit(left));
      whole.whole_first = true;
      if (better(whole, again)) again = std::move(whole);
    }
    if (may_swap && (must_fetch || !keeps(again))) {
      // Less is left to swap of a step that computes much again.
      Tried both = swapped(computed(again));
      both.whole_first = again.whole_first;
      take(std::move(both));
      Tried whole = swapped(variants_.whole_first().light());
      whole.whole_first = true;
      take(std::move(whole));
      take_mixtures(again.fitted.arena.plan, again.extra_ms, light, *best);
    }
    if (!must_fetch) {
      take(std::move(again));
      take(tried(variants_.in_parts_first().balanced()));
    }
    return std::move(*best);
  }

  // Steps that compute again less than the one with the least arena, and swap the rest: of three on
  // the way to none of it the best, then around that.
  void take_mixtures(const Plan& least, double least_ms, const Plan& most, Tried& best) const {
    const auto improves_at = [&](double share) {
      // About what it takes if it waits for nothing: the last bytes cost most, by far.
      const double again = 1.0 - share;
      const double computing_ms = again * again * again * least_ms;
      if (keeps(best) && computing_ms > best.extra_ms) return false;
      const auto more = static_cast<double>(most.arena_bytes - least.arena_bytes);
      const int64_t arena_bytes = least.arena_bytes + std::llround(share * more);
      Tried next = swapped(variants_.in_parts_first().fit(arena_bytes));
      const bool is_better = better(next, best);
      if (is_better) best = std::move(next);
      return is_better;
    };
    if (least.arena_bytes >= most.arena_bytes) return;
    double at = 0.5;
    bool improves = improves_at(at);
    if (natural_.nodes.size() > kMostMixedNodes) return;
    for (double width = 0.25; width >= kFinestMixture; width /= 2) {
      const double middle = at;
      for (const double share : {middle - width, middle + width}) {
        if (!improves_at(share)) continue;
        improves = true;
        at = share;
      }
      if (!improves) return;
    }
  }

  // A budget of next to nothing asks for the smallest plan, which is the same for any file.
  [[nodiscard]] bool asks_for_least() const { return budget_.bytes <= budget_.least_staging_bytes; }

  void ask_for_rates() {
    rates_.staging_bytes = rates_.least_staging_bytes = budget_.least_staging_bytes;
    if (!budget_.rates || asks_for_least()) return;
    rates_ = budget_.rates();
    rates_.least_staging_bytes = budget_.least_staging_bytes;
  }

  [[nodiscard]] Tried swapped(const ir::Graph& graph) const {
    std::optional<Tried> fast = swapped_with(graph, rates_.staging_bytes);
    if (fast && keeps(*fast)) return std::move(*fast);
    Tried best = swapped(graph, 0, rates_.least_staging_bytes);
    if (fast && better(*fast, best)) best = std::move(*fast);
    if (!keeps(best)) return best;
    const auto take = [&](Tried next) {
      if (better(next, best)) best = std::move(next);
    };
    // The room that the smallest plan leaves is for staging, or half of it, and half for reading
    // ahead, which may turn out to need more.
    const int64_t room = budget_.bytes - bytes(best);
    const int64_t all = staging_within(room);
    const int64_t half = staging_within(room / 2);
    if (all > rates_.least_staging_bytes) take(swapped(graph, 0, all));
    if (half > rates_.least_staging_bytes) {
      if (std::optional<Tried> ahead = swapped_with(graph, half)) take(std::move(*ahead));
    }
    return best;
  }

  // The most staging that takes no more than so many bytes more than the least.
  [[nodiscard]] int64_t staging_within(int64_t bytes) const {
    const int64_t more = std::min(bytes, rates_.staging_bytes - rates_.least_staging_bytes);
    return rates_.least_staging_bytes +
           more / rates_.staging_step_bytes * rates_.staging_step_bytes;
  }

  // With so much staging: a plan that keeps the budget, else the smallest that was seen, if any.
  [[nodiscard]] std::optional<Tried> swapped_with(const ir::Graph& graph, int64_t staging) const {
    std::optional<Tried> best;
    int64_t target = budget_.bytes - staging;
    for (int round = 1; round <= kMaxRounds && target > 0; ++round) {
      Tried next = swapped(graph, target, staging);
      // What is read ahead fills every gap, which is hard to pack.
      target -= std::max(bytes(next) - budget_.bytes, target / kFinestStep);
      const bool is_smallest = next.is_smallest;
      if (!best || better(next, *best)) best = std::move(next);
      if (keeps(*best) || is_smallest) break;
    }
    return best;
  }

  [[nodiscard]] SwapCosts costs(const ir::Graph& graph, const SwapRates& rates) const {
    std::vector<double> node_ms;
    for (const ir::Node& node : graph.nodes) node_ms.push_back(times_.of(graph, node));
    return rates.costs(std::move(node_ms));
  }

  [[nodiscard]] Tried swapped(const ir::Graph& graph, int64_t target, int64_t staging) const {
    SwapOptions wanted{.arena = options_,
                       .target_bytes = target,
                       .in_file = budget_.in_file,
                       .smallest_bytes = budget_.smallest_swapped_bytes};
    wanted.costs = costs(graph, rates_.with_staging(staging));
    if (target == 0) {  // the same on every machine
      wanted.actual = std::move(wanted.costs);
      wanted.costs = costs(graph, SwapRates());
    }
    Swapped swap = plan::swap(graph, wanted);
    Tried result;
    result.without_transfers = graph;
    result.extra_ms = times_.of(graph) - light_ms_ + swap.stall_ms;
    result.busy_ms = swap.transfer_ms;
    result.stall_ms = swap.stall_ms;
    result.read_bytes = swap.read_bytes;
    result.written_bytes = swap.written_bytes;
    result.values = swap.values;
    result.is_smallest = swap.peak_bytes > target;
    result.fitted.arena = plan_arena(swap.graph, options_, swap.in_file);
    if (!swap.slot_bytes.empty()) {
      Plan& plan = result.fitted.arena.plan;
      plan.staging_bytes = staging;
      plan.planned_peak_bytes += plan.staging_bytes;
      plan.lower_bound_bytes += plan.staging_bytes;
    }
    result.fitted.graph = std::move(swap.graph);
    result.fitted.in_file = std::move(swap.in_file);
    result.fitted.slot_bytes = std::move(swap.slot_bytes);
    return result;
  }

  void explain(const Tried& best, Plan& plan) const {
    const bool stored_otherwise = variants_.exact() != nullptr;
    Variants& exact = stored_otherwise ? *variants_.exact() : variants_;
    const bool whole_first = best.whole_first && !stored_otherwise;
    ArenaFitter& fitter = whole_first ? exact.whole_first() : exact.in_parts_first();
    Strategies list(options_, times_);
    list.start(natural_);
    list.add("order and immediate update", exact.ordered());
    if (!whole_first) list.add("updates in parts", exact.updated_in_parts());
    list.add("bits kept in place of values", fitter.orders().front());
    list.add("activations and norms made again", fitter.light());
    if (stored_otherwise) list.add_lossy("activations in 16 bits", light_);
    list.add("recomputation", computed(best));
    if (best.values > 0) {
      list.add_swap(plan, best.values, best.stall_ms);
    }
    plan.strategies = std::move(list).finish();
  }

  const ArenaOptions& options_;
  const Budget& budget_;
  NodeTimes times_;
  const ir::Graph& natural_;
  Variants& variants_;
  const ir::Graph& light_;  // what costs little, with what is asked for anyway
  double light_ms_ = 0.0;
  SwapRates rates_;
};

}  // namespace

SwapRates SwapRates::with_staging(int64_t bytes) const {
  const double factor = 1.0 + (least_staging_factor - 1.0) * scarcity(*this, bytes);
  SwapRates rates = *this;
  rates.read_ms_per_byte *= factor;
  rates.write_ms_per_byte *= factor;
  return rates;
}

void SwapRates::scale(double factor, int64_t bytes) {
  if (scarcity(*this, bytes) == 1.0) {
    least_staging_factor *= factor;
    return;
  }
  read_ms_per_byte *= factor;
  write_ms_per_byte *= factor;
  transfer_ms *= factor;
}

SwapCosts SwapRates::costs(std::vector<double> node_ms) const {
  return {.node_ms = std::move(node_ms),
          .read_ms_per_byte = read_ms_per_byte,
          .write_ms_per_byte = write_ms_per_byte,
          .transfer_ms = transfer_ms};
}

Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget) {
  const auto memo = budget.memo ? budget.memo : std::make_shared<Memo>();
  if (!memo->variants) {
    memo->variants = std::make_unique<Variants>(graph, options, budget.saved);
  }
  return Ladder(graph, *memo->variants, options, budget).run();
}

}  // namespace thimble::plan
