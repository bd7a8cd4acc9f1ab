#include "plan/budget/search.h"

#include <algorithm>
#include <utility>

#include "plan/budget/strategies.h"
#include "plan/swap/swap.h"

namespace thimble::plan {
namespace {

// Plans tried with ever lower targets until a swapping step fits its budget.
constexpr int kMaxRounds = 8;
constexpr int64_t kFinestStep = 100;  // the next target is lower by at least this fraction

// A step with swap must be faster by this factor: writing wears out flash memory, and predictions
// may be wrong.
constexpr double kSwapHandicap = 1.1;

// A level that takes this many times as long ends the search: levels below it take longer still.
constexpr double kClearlyLonger = 1.02;

// The cost by which candidates are compared.
struct Cost {
  int64_t bytes = 0;  // as a budget counts them
  double ms = 0.0;    // predicted
  bool swaps = false;

  // The time by which steps that keep the budget are compared.
  [[nodiscard]] double weighed_ms() const { return swaps ? kSwapHandicap * ms : ms; }
};

struct Candidate {
  Fitted step;
  ir::Graph computing;  // the step without transfers
  Cost cost;
  TransferTimes times;
  bool is_smallest = false;  // a lower target gives nothing smaller
};

class BudgetSearch {
 public:
  BudgetSearch(const ir::Graph& graph, const ArenaOptions& options, const Budget& budget)
      : options_(options),
        budget_(budget),
        times_(budget.times ? *budget.times : NodeTimes()),
        natural_(graph),
        memo_(budget.memo ? budget.memo : std::make_shared<Memo>()) {
    if (!memo_->variants) {
      memo_->variants = std::make_unique<Variants>(graph, options, budget.saved);
    }
  }

  Fitted run() {
    if (budget_.bytes > 0) {
      search();
    } else {
      take(plain(variants().balanced()));
    }
    return finished();
  }

  Fitted apply(const StepDecisions& decisions) {
    Variant variant = variants().apply(decisions);
    if (!decisions.swap) {
      take(plain(variant));
      return finished();
    }
    ask_for_rates();
    const int64_t staging = decisions.swap->staging_bytes;
    take(with_transfers(variant,
                        apply_swap(variant.graph, options_, decisions.swap->transfers,
                                   costs(variant.graph, rates_.with_staging(staging))),
                        staging));
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
    return a.weighed_ms() < b.weighed_ms();
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
    if (!must_fetch) take(plain(cheap));
    if (has_kept()) return take_faster_levels(cheap);
    if (may_swap) {
      ask_for_rates();
      take(swapped(cheap));
    }
    const bool only_swap = must_fetch || budget_.swap == Swap::always;
    if ((only_swap && has_kept()) || !has_backward_part(cheap.graph)) return;
    const std::vector<const Variant*> others = smaller_variants(may_swap);
    if (!must_fetch) {
      take(plain(variants().balanced()));
      for (const Variant* const each : others) take(plain(*each));
    }
    if (!may_swap) return;
    for (const Variant* const each : others) {
      const bool is_kept_plain = !must_fetch && each->bytes <= budget_.bytes;
      if (!is_kept_plain && may_be_better_swapped(*each)) take(swapped(*each));
    }
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
  [[nodiscard]] bool may_be_better_swapped(const Variant& variant) const {
    return !has_kept() || kSwapHandicap * times_.of(variant.graph) < best_->cost.weighed_ms();
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
    return with_transfers(variant, std::move(nothing), 0);
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

  [[nodiscard]] Candidate swapped(const Variant& variant) const {
    std::optional<Candidate> fast = swapped_with(variant, rates_.staging_bytes);
    if (fast && keeps(fast->cost)) return std::move(*fast);
    Candidate best = swapped(variant, 0, rates_.least_staging_bytes);
    if (fast && better(fast->cost, best.cost)) best = std::move(*fast);
    if (!keeps(best.cost)) return best;
    const auto consider = [&](Candidate next) {
      if (better(next.cost, best.cost)) best = std::move(next);
    };
    // The memory that the smallest plan leaves goes to staging, or half of it to staging and half
    // to reading ahead. Reading ahead may turn out to need more.
    const int64_t room = budget_.bytes - best.cost.bytes;
    const int64_t all = rates_.staging_within(room);
    const int64_t half = rates_.staging_within(room / 2);
    if (all > rates_.least_staging_bytes) consider(swapped(variant, 0, all));
    if (half > rates_.least_staging_bytes) {
      if (std::optional<Candidate> ahead = swapped_with(variant, half)) consider(std::move(*ahead));
    }
    return best;
  }

  // With this much staging: a plan that keeps the budget, else the smallest one seen, if any.
  [[nodiscard]] std::optional<Candidate> swapped_with(const Variant& variant,
                                                      int64_t staging) const {
    std::optional<Candidate> best;
    int64_t target = budget_.bytes - staging;
    for (int round = 1; round <= kMaxRounds && target > 0; ++round) {
      Candidate next = swapped(variant, target, staging);
      // Values read ahead fill every gap, which makes packing hard, so the target falls in steps.
      target -= std::max(next.cost.bytes - budget_.bytes, target / kFinestStep);
      const bool is_smallest = next.is_smallest;
      if (!best || better(next.cost, best->cost)) best = std::move(next);
      if (keeps(best->cost) || is_smallest) break;
    }
    return best;
  }

  [[nodiscard]] SwapCosts costs(const ir::Graph& graph, const SwapRates& rates) const {
    std::vector<double> node_ms;
    for (const ir::Node& node : graph.nodes) node_ms.push_back(times_.of(graph, node));
    return rates.costs(std::move(node_ms));
  }

  [[nodiscard]] Candidate swapped(const Variant& variant, int64_t target, int64_t staging) const {
    SwapOptions wanted{.arena = options_,
                       .target_bytes = target,
                       .in_file = budget_.in_file,
                       .smallest_bytes = budget_.smallest_swapped_bytes};
    wanted.costs = costs(variant.graph, rates_.with_staging(staging));
    if (target == 0) {  // nominal rates: the same plan on every machine
      wanted.actual = std::move(wanted.costs);
      wanted.costs = costs(variant.graph, SwapRates());
    }
    Swapped swap = plan::swap(variant.graph, wanted);
    const bool is_smallest = swap.peak_bytes > target;
    Candidate result = with_transfers(variant, std::move(swap), staging);
    result.is_smallest = is_smallest;
    return result;
  }

  [[nodiscard]] Candidate with_transfers(const Variant& variant, Swapped swap,
                                         int64_t staging) const {
    Candidate result;
    result.computing = variant.graph;
    result.times = swap.times;
    result.step.decisions = variant.decisions;
    result.step.decisions.micro_batches = budget_.micro_batches;
    result.step.arena = plan_arena(swap.graph, options_, swap.in_file);
    Plan& plan = result.step.arena.plan;
    if (!swap.slot_bytes.empty()) {
      plan.staging_bytes = staging;
      plan.planned_peak_bytes += staging;
      plan.lower_bound_bytes += staging;
      result.step.decisions.swap = {plan.staging_bytes, std::move(swap.decisions)};
    }
    result.step.graph = std::move(swap.graph);
    result.step.in_file = std::move(swap.in_file);
    result.step.slot_bytes = std::move(swap.slot_bytes);
    result.cost = {counted_bytes(plan), times_.of(variant.graph) + swap.times.stall_ms,
                   swap.times.stall_ms > 0.0 || swap.times.read_bytes > 0};
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
