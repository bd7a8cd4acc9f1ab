#include "plan/budget/search.h"

#include <algorithm>
#include <utility>

#include "plan/budget/strategies.h"
#include "plan/swap/swap.h"

namespace thimble::plan {
namespace {

// What is swapped is chosen twice for a series of targets, by the rates of a file with each of
// these shares of the usual staging.
constexpr double kSharesOfStaging[] = {1.0, 0.25};

// A step with swap must be faster by this factor than one without that takes no more memory:
// writing wears out flash memory, and predictions may be wrong.
constexpr double kSwapHandicap = 1.1;

// A level that takes this many times as long ends the search: levels below it take longer still.
constexpr double kClearlyLonger = 1.02;

// The cost by which candidates are compared.
struct Cost {
  int64_t bytes = 0;          // as a budget counts them
  int64_t staging_bytes = 0;  // of them
  double ms = 0.0;            // predicted
  bool swaps = false;
};

struct Candidate {
  Fitted step;
  ir::Graph computing;  // the step without transfers
  Cost cost;
  TransferTimes times;
};

class BudgetSearch {
 public:
  BudgetSearch(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget)
      : options_(options),
        budget_(budget),
        times_(budget.times ? *budget.times : NodeTimes()),
        natural_(graph),
        memo_(budget.memo ? budget.memo : std::make_shared<Memo>()) {
    times_.set_kernels(options.fast);
    if (!memo_->variants) {
      memo_->variants = std::make_unique<Variants>(graph, options, budget.saved);
    }
  }

  Fitted run() {
    if (budget_.bytes > 0) {
      search();
    } else {
      take_plain(variants().balanced());
    }
    return finished();
  }

  Fitted apply(const StepDecisions& decisions) {
    Variant variant = variants().apply(decisions);
    if (!decisions.swap) {
      take_plain(variant);
      return finished();
    }
    ask_for_rates();
    const int64_t staging = decisions.swap->staging_bytes;
    const SwapCosts costs = rates_.costs(node_times(variant));
    take(with_transfers(
        variant, apply_swap(variant.graph, options_, decisions.swap->transfers, costs), staging));
    return finished();
  }

 private:
  [[nodiscard]] Variants& variants() const { return *memo_->variants; }
  [[nodiscard]] bool keeps(const Cost& cost) const {
    return budget_.bytes <= 0 || cost.bytes <= budget_.bytes;
  }
  [[nodiscard]] bool has_kept() const { return best_ && keeps(best_->cost); }

  // Whether a is better: the fastest that keeps the budget, else the smallest.
  [[nodiscard]] bool better(const Cost& a, const Cost& b) const {
    if (keeps(a) != keeps(b)) return keeps(a);
    if (!keeps(a)) return a.bytes < b.bytes;
    if (gains_enough(a) != gains_enough(b)) return gains_enough(a);
    return a.ms < b.ms;
  }
  // Does not depend on the budget: a larger one never loses a step by this.
  [[nodiscard]] bool gains_enough(const Cost& cost) const {
    return !cost.swaps || std::none_of(plain_.begin(), plain_.end(), [&](const Cost& plain) {
      return plain.bytes <= cost.bytes - cost.staging_bytes && plain.ms <= kSwapHandicap * cost.ms;
    });
  }

  void take_plain(const Variant& variant) {
    Candidate next = plain(variant);
    plain_.push_back(next.cost);
    take(std::move(next));
  }

  void take(Candidate next) {
    const size_t entry = budget_.explain ? logged(next) : 0;
    if (best_ && !better(next.cost, best_->cost)) return;
    best_ = std::move(next);
    chosen_ = entry;
  }

  // Index of the candidate in the log. Equal plans are logged once.
  size_t logged(const Candidate& candidate) {
    PlanCandidate entry{summary(candidate.step.decisions), candidate.cost.bytes, candidate.cost.ms,
                        ""};
    const auto same = [&](const PlanCandidate& known) {
      return known.decisions == entry.decisions && known.bytes == entry.bytes &&
             known.step_ms == entry.step_ms;
    };
    const auto found = std::find_if(log_.begin(), log_.end(), same);
    if (found != log_.end()) return static_cast<size_t>(found - log_.begin());
    log_.push_back(std::move(entry));
    return log_.size() - 1;
  }

  // Tries variants from the fastest to the smallest, with swap if they do not keep the budget.
  void search() {
    const bool must_fetch = budget_.in_file && !budget_.in_file->empty();
    const bool may_swap = budget_.swap != Swap::never || must_fetch;
    const Variant& cheap = variants().cheap();
    if (!must_fetch) take_plain(cheap);
    if (has_kept()) return take_faster_levels(cheap);
    if (may_swap) ask_for_rates();
    const bool recomputes = has_backward_part(cheap.graph);
    const bool only_swap = must_fetch || budget_.swap == Swap::always;
    if (may_swap && (only_swap || !recomputes)) take(swapped(cheap));
    if (!recomputes) return;
    if (only_swap && has_kept()) return take_plan_of_less_memory(cheap);
    std::vector<const Variant*> others = smaller_variants(may_swap);
    if (!must_fetch) {
      take_plain(variants().balanced());
      for (const Variant* const each : others) take_plain(*each);
    }
    if (!may_swap) return;
    if (!only_swap) others.insert(others.begin(), &cheap);
    for (const Variant* const each : others) {
      const bool is_kept_plain = !must_fetch && each->bytes <= budget_.bytes;
      if (!is_kept_plain && may_be_faster_swapped(*each)) take(swapped(*each));
    }
  }

  // Where swap alone needs a slow plan, the plan for too little memory for that, which recomputes,
  // may be faster.
  void take_plan_of_less_memory(const Variant& cheap) {
    if (best_->cost.ms <= kClearlyLonger * times_.of(cheap.graph)) return;
    Budget less = budget_;
    const Cost least = least_swapped(cheap, chooser_for(cheap)).cost;
    less.bytes = least.bytes - least.staging_bytes + rates_.least_staging_bytes - 1;
    less.memo = memo_;
    BudgetSearch search(natural_, options_, less);
    search.search();
    if (search.has_kept()) take(std::move(*search.best_));
  }

  // A level recomputes only what it needs, so it may be faster than all cheap recomputation.
  void take_faster_levels(const Variant& cheap) {
    if (cheap.decisions.recomputed.empty()) return;
    for (int level = variants().levels() - 1; level > 0; --level) {
      Candidate next = plain(variants().level(level));
      const bool is_last = next.cost.ms > kClearlyLonger * best_->cost.ms;
      take(std::move(next));
      if (is_last) return;
    }
  }

  // Transfers only add time: a variant whose computation is slower than the best step is skipped.
  [[nodiscard]] bool may_be_faster_swapped(const Variant& variant) const {
    return !has_kept() || times_.of(variant.graph) < best_->cost.ms;
  }

  // Smaller variants, the fastest first. Without swap, a smaller budget's list is a subset of this
  // one.
  [[nodiscard]] std::vector<const Variant*> smaller_variants(bool may_swap) const {
    std::vector<const Variant*> found;
    const int64_t persistent = variants().cheap().bytes - variants().cheap().arena_bytes;
    for (int level = variants().levels() - 1; level > 0; --level) {
      const bool may_fit = persistent + variants().level_arena_bytes(level) <= budget_.bytes;
      if (may_swap || may_fit) found.push_back(&variants().level(level));
    }
    found.push_back(&variants().smallest(true));
    if (variants().has_tiled_updates()) {
      found.push_back(&variants().smallest(false));
      if (may_swap) found.push_back(&variants().cheap(false));
    }
    return found;
  }

  [[nodiscard]] Candidate plain(const Variant& variant) const {
    Swapped nothing;
    nothing.graph = variant.graph;
    return with_transfers(variant, std::move(nothing));
  }

  // A budget smaller than the least staging asks for the smallest plan, which is the same for any
  // disk.
  [[nodiscard]] bool asks_for_least() const { return budget_.bytes <= budget_.least_staging_bytes; }

  void ask_for_rates() {
    if (budget_.device && !asks_for_least()) {
      rates_ = budget_.device->rates();
    } else {
      rates_.staging_bytes = budget_.least_staging_bytes;
    }
    rates_.least_staging_bytes = budget_.least_staging_bytes;
  }

  [[nodiscard]] SwapChooser chooser_for(const Variant& variant) const {
    return SwapChooser(variant.graph, {.arena = options_,
                                       .in_file = budget_.in_file,
                                       .smallest_bytes = budget_.smallest_swapped_bytes});
  }

  // The smallest plan with transfers. By nominal rates, so that it is the same on every machine.
  [[nodiscard]] Candidate least_swapped(const Variant& variant, const SwapChooser& chooser) const {
    const SwapCosts nominal = SwapRates().costs(node_times(variant));
    SwapChooser::Series series(chooser, nominal);
    return with_transfers(variant, chooser.apply(series.choose(0, nominal)));
  }

  // With transfers: the fastest of a series of plans that keeps the budget, else the smallest. The
  // series is the same for all budgets, so a larger one chooses from more.
  [[nodiscard]] Candidate swapped(const Variant& variant) const {
    const SwapChooser chooser = chooser_for(variant);
    Candidate best = least_swapped(variant, chooser);
    if (!keeps(best.cost)) return best;
    const std::vector<double> node_ms = node_times(variant);
    const double computing_ms = times_.of(variant.graph);
    for (const double share : kSharesOfStaging) {
      const auto staging = static_cast<int64_t>(share * static_cast<double>(rates_.staging_bytes));
      const SwapCosts costs = rates_.with_staging(rates_.staging_within(staging)).costs(node_ms);
      SwapChooser::Series series(chooser, costs);
      for (int64_t target = variant.bytes; target > 0; target = next_target(target)) {
        if (target > budget_.bytes - rates_.least_staging_bytes) continue;
        const SwapRates rates = rates_.with_staging(staging_beside(target));
        Transfers next = series.choose(target, rates.costs(node_ms));
        if (next.peak_bytes() > target) break;  // no plan is that small
        const double ms = computing_ms + next.times.stall_ms;
        // Packing takes long, so only what may be faster is packed.
        if (gains_enough(best.cost) && ms >= best.cost.ms) continue;
        if (has_kept() && ms >= best_->cost.ms) continue;
        Candidate packed = with_transfers(variant, chooser.apply(std::move(next)));
        if (better(packed.cost, best.cost)) best = std::move(packed);
        if (gains_enough(best.cost) && best.cost.ms <= computing_ms) return best;
      }
    }
    return best;
  }

  // The most staging that a plan of so many bytes leaves memory for.
  [[nodiscard]] int64_t staging_beside(int64_t bytes) const {
    return rates_.staging_within(budget_.bytes - bytes - rates_.least_staging_bytes);
  }

  [[nodiscard]] std::vector<double> node_times(const Variant& variant) const {
    std::vector<double> node_ms;
    for (const ir::Node& node : variant.graph.nodes) {
      node_ms.push_back(times_.of(variant.graph, node));
    }
    return node_ms;
  }

  // staging: of the file, if there is one; none: all that there is memory for.
  [[nodiscard]] Candidate with_transfers(const Variant& variant, Swapped swapped,
                                         std::optional<int64_t> staging = {}) const {
    Candidate result;
    result.computing = variant.graph;
    result.step.decisions = variant.decisions;
    result.step.decisions.micro_batches = budget_.micro_batches;
    result.step.arena = plan_arena(swapped.graph, options_, swapped.in_file);
    Plan& plan = result.step.arena.plan;
    result.cost.swaps = !swapped.slot_bytes.empty();
    if (result.cost.swaps) {
      plan.staging_bytes = staging.value_or(staging_beside(counted_bytes(plan)));
      plan.planned_peak_bytes += plan.staging_bytes;
      plan.lower_bound_bytes += plan.staging_bytes;
      const SwapRates rates = rates_.with_staging(plan.staging_bytes);
      result.times = times_of(swapped.graph, rates.costs(node_times(variant)));
      result.step.decisions.swap = {plan.staging_bytes, std::move(swapped.decisions)};
    }
    result.step.graph = std::move(swapped.graph);
    result.step.in_file = std::move(swapped.in_file);
    result.step.slot_bytes = std::move(swapped.slot_bytes);
    result.cost.bytes = counted_bytes(plan);
    result.cost.staging_bytes = plan.staging_bytes;
    result.cost.ms = times_.of(variant.graph) + result.times.stall_ms;
    return result;
  }

  [[nodiscard]] Fitted finished() {
    Plan& plan = best_->step.arena.plan;
    plan.swap_read_bytes = best_->times.read_bytes;
    plan.swap_written_bytes = best_->times.written_bytes;
    plan.swap_busy_ms = best_->times.busy_ms;
    plan.swap_stall_ms = best_->times.stall_ms;
    plan.step_ms = best_->cost.ms;
    if (budget_.explain) explain(plan);
    return std::move(best_->step);
  }

  void explain(Plan& plan) {
    plan.decisions = to_json(best_->step.decisions);
    for (size_t i = 0; i < log_.size(); ++i) {
      const bool is_kept = budget_.bytes <= 0 || log_[i].bytes <= budget_.bytes;
      log_[i].verdict = i == chosen_                       ? "chosen"
                        : !is_kept                         ? "above the budget"
                        : log_[i].step_ms > best_->cost.ms ? "slower"
                                                           : "gains too little";
    }
    plan.candidates = std::move(log_);
    Variants* const exact = variants().exact();
    Variants& shown = exact != nullptr ? *exact : variants();
    const bool tiled = best_->step.decisions.tiled_updates || exact != nullptr;
    Strategies list(options_, times_);
    list.start(natural_);
    list.add("order and immediate update", shown.ordered());
    if (tiled) list.add("tiled updates", shown.tiled());
    list.add("bit masks", shown.with_bit_masks(tiled));
    list.add("cheap recomputation", shown.cheap(tiled).graph);
    if (exact != nullptr) list.add_lossy("16-bit activations", variants().cheap().graph);
    list.add("recomputation", best_->computing);
    const std::optional<StepDecisions::Swapping>& swap = best_->step.decisions.swap;
    if (swap && !swap->transfers.items.empty()) {
      list.add_swap(plan, static_cast<int64_t>(swap->transfers.items.size()),
                    best_->times.stall_ms);
    }
    plan.strategies = std::move(list).finish();
  }

  const ArenaOptions& options_;
  const Budget& budget_;
  NodeTimes times_;
  const ir::Graph& natural_;
  std::shared_ptr<Memo> memo_;
  SwapRates rates_;
  std::optional<Candidate> best_;
  std::vector<Cost> plain_;  // of candidates without transfers
  std::vector<PlanCandidate> log_;
  size_t chosen_ = 0;  // index in log_
};

}  // namespace

Fitted fit(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget) {
  return BudgetSearch(graph, options, budget).run();
}

Fitted apply(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget,
             const StepDecisions& decisions) {
  return BudgetSearch(graph, options, budget).apply(decisions);
}

}  // namespace thimble::plan
