#include "plan/remat/recompute.h"

#include <thimble/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "plan/nth.h"
#include "plan/order/order.h"
#include "plan/remat/anneal.h"
#include "plan/remat/schedule.h"
#include "plan/remat/segments.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Candidates tried at one peak before the search gives up on it.
constexpr size_t kMaxTries = 48;

constexpr int kMaxSegments = 16;

// Total nodes of the searches from different starts, so that long steps have few starts.
constexpr size_t kMaxStartNodes = 10'000;
constexpr size_t kLeastStarts = 4;

// Work limit for orders that are only compared; the result's order is searched with the usual one.
constexpr int64_t kQuickOrder = 20'000;

// Nodes to recompute together, and the score at the peak.
struct ScoredNodes {
  std::vector<int> nodes;
  Recompute how = Recompute::once;
  double score = 0.0;
};

// Ranks choices, the lowest first: by peak above the target, then by work. With slack: by bytes of
// the whole step times its work, then by work.
class Ranking {
 public:
  using Rank = std::pair<double, double>;

  Ranking(const ir::Graph& graph, const RecomputeOptions& options)
      : options_(options), work_(work_of(graph)), resident_(resident_bytes(graph, {})) {}

  [[nodiscard]] double work() const { return work_; }  // of the step without recomputation
  [[nodiscard]] Rank of(int64_t peak_bytes, double extra_work) const {
    if (options_.slack > 0.0) {
      return {static_cast<double>(resident_ + peak_bytes) * (work_ + extra_work), extra_work};
    }
    return {static_cast<double>(std::max(peak_bytes, options_.target_bytes)), extra_work};
  }
  [[nodiscard]] Rank of(const ScheduleBuilder& builder, const RematSchedule& schedule) const {
    return of(schedule.peak_bytes, extra_work(builder, schedule));
  }

 private:
  const RecomputeOptions& options_;
  double work_;
  int64_t resident_;
};

bool is_allowed(const ScheduleBuilder& builder, const RecomputeOptions& options, int node) {
  const ScheduleBuilder::RecomputeRule& rule = builder.rule(node);
  return rule.op != nullptr &&
         (rule.cheap || options.any_op || (rule.affordable && options.slack > 0.0));
}

// Only views are recomputed: they share their input's memory and cost nothing. If that makes too
// many entries, nothing is.
RematSchedule with_views_recomputed(const ScheduleBuilder& builder) {
  const std::vector<Recompute> never(builder.graph().nodes.size(), Recompute::no);
  std::vector<Recompute> recomputed = never;
  for (size_t n = 0; n < recomputed.size(); ++n) {
    const ScheduleBuilder::RecomputeRule& rule = builder.rule(static_cast<int>(n));
    if (rule.op != nullptr && rule.free) recomputed[n] = Recompute::each;
  }
  RematSchedule schedule = builder.build(std::move(recomputed));
  return schedule.valid ? schedule : builder.build(never);
}

// For each value of the graph, the positions at which its first copy and its recomputed ones are
// read.
class Reads {
 public:
  static constexpr int kNever = std::numeric_limits<int>::max();

  Reads(const ScheduleBuilder& builder, const RematSchedule& schedule)
      : reads_(builder.graph().values.size()) {
    const auto values = static_cast<int>(reads_.size());
    for (int at = 0; at < schedule.sequence.size(); ++at) {
      const ScheduleEntry& entry = nth(schedule.entries, at);
      const bool late = entry.recomputed || entry.node > builder.loss_node();
      for (const int read : schedule.sequence.inputs(at)) {
        if (read < 0) continue;
        Where& where = nth(reads_, nth(schedule.original, read));
        where.last = at;
        if (read < values && !late) where.last_early = at;
        if (late) where.first_late = std::min(where.first_late, at);
        if (at == schedule.peak) where.at_peak = true;
      }
    }
  }

  struct Where {
    int last_early = -1;
    int first_late = kNever;
    int last = -1;
    bool at_peak = false;
  };
  [[nodiscard]] const Where& of(int id) const { return nth(reads_, id); }

 private:
  std::vector<Where> reads_;
};

// The best choice found so far.
class Best {
 public:
  Best(const ScheduleBuilder& builder, const Ranking& ranking)
      : builder_(builder), ranking_(ranking) {}

  void consider(RematSchedule schedule) {
    if (schedule_ && rank(schedule) >= rank(*schedule_)) return;
    schedule_ = std::move(schedule);
  }
  [[nodiscard]] const RematSchedule& schedule() const { return *schedule_; }
  [[nodiscard]] Ranking::Rank rank(const RematSchedule& schedule) const {
    return ranking_.of(builder_, schedule);
  }

 private:
  const ScheduleBuilder& builder_;
  Ranking ranking_;
  std::optional<RematSchedule> schedule_;
};

class Chooser {
 public:
  // weight_of_work: 1 prefers the most bytes per unit of work, more prefers little work, less
  // prefers many bytes.
  Chooser(const ScheduleBuilder& builder, const RecomputeOptions& options, double weight_of_work,
          RematSchedule start)
      : builder_(builder),
        options_(options),
        weight_of_work_(weight_of_work),
        ranking_(builder.graph(), options),
        schedule_(std::move(start)) {
    if (options.slack > 0.0) {
      most_work_ = extra_work(builder, schedule_) + options.slack * ranking_.work();
    }
  }

  [[nodiscard]] RematSchedule chosen() {
    const bool weighs = options_.slack > 0.0;
    Best best(builder_, ranking_);
    if (weighs) best.consider(schedule_);
    while (schedule_.peak_bytes > options_.target_bytes && lower_the_peak()) {
      if (weighs) best.consider(schedule_);
    }
    if (weighs) schedule_ = best.schedule();
    keep_needless(std::max(options_.target_bytes, schedule_.peak_bytes));
    return std::move(schedule_);
  }

 private:
  [[nodiscard]] Recompute choice_of(int node) const { return nth(schedule_.recomputed, node); }

  // Bytes that are alive but unread at the peak unless the node is recomputed. until: the last
  // entry that reads one of its recomputed outputs.
  [[nodiscard]] int64_t idle_bytes(int node, Recompute how, const Reads& reads, int& until) const {
    int64_t idle = 0;
    for (const int id : builder_.rule(node).outputs) {
      const Reads::Where& where = reads.of(id);
      if (where.first_late == Reads::kNever) continue;
      until = std::max(until, how == Recompute::once ? where.first_late : where.last);
      const bool waits = how == Recompute::once ? where.first_late > schedule_.peak
                                                : where.last > schedule_.peak && !where.at_peak;
      const bool is_kept = where.last_early < schedule_.peak || choice_of(node) == Recompute::once;
      const bool is_recomputable =
          choice_of(node) == Recompute::no || where.first_late < schedule_.peak;
      if (waits && is_kept && is_recomputable) idle += builder_.bytes(id);
    }
    return idle;
  }

  // The candidate for recomputing a node, with `closed` its producers as well, so that nothing is
  // kept only for it. Empty if it would free nothing.
  [[nodiscard]] ScoredNodes candidate(int node, Recompute how, const Reads& reads,
                                      bool closed) const {
    int until = -1;
    int64_t freed = idle_bytes(node, how, reads, until);
    if (freed <= 0) return {};
    ScoredNodes result{{node}, how, 0.0};
    double work = 1.0;
    for (size_t i = 0; i < result.nodes.size(); ++i) {
      const ScheduleBuilder::RecomputeRule& rule = builder_.rule(result.nodes[i]);
      work += rule.work;
      for (const int id : rule.inputs) {
        if (id < 0 || builder_.bytes(id) == kPersistent || reads.of(id).last >= until) continue;
        const int producer = builder_.forward_producer(id);
        if (producer >= 0 && builder_.is_recomputable(id)) {
          const bool too =
              std::find(result.nodes.begin(), result.nodes.end(), producer) != result.nodes.end();
          if (too || choice_of(producer) != Recompute::no) continue;
          if (closed && is_allowed(builder_, options_, producer)) {
            result.nodes.push_back(producer);
            continue;
          }
        }
        if (reads.of(id).last < schedule_.peak) freed -= builder_.bytes(id);
      }
    }
    if (freed <= 0) return {};
    result.score = static_cast<double>(freed) / std::pow(work, weight_of_work_);
    return result;
  }

  [[nodiscard]] std::vector<ScoredNodes> candidates() const {
    const Reads reads(builder_, schedule_);
    std::vector<ScoredNodes> found;
    const auto add = [&found](ScoredNodes candidate) {
      if (!candidate.nodes.empty()) found.push_back(std::move(candidate));
    };
    for (int n = 0; n < builder_.loss_node(); ++n) {
      if (!is_allowed(builder_, options_, n)) continue;
      for (const Recompute how : {Recompute::once, Recompute::each}) {
        if (how <= choice_of(n)) continue;
        ScoredNodes alone = candidate(n, how, reads, false);
        ScoredNodes closed = candidate(n, how, reads, true);
        if (alone.nodes != closed.nodes) add(std::move(closed));
        add(std::move(alone));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const ScoredNodes& a, const ScoredNodes& b) { return a.score > b.score; });
    return found;
  }

  // Live bytes of this schedule at an entry of another one; 0 if it has no such entry.
  static int64_t live_at(const RematSchedule& schedule, const ScheduleEntry& entry) {
    const auto found = std::find(schedule.entries.begin(), schedule.entries.end(), entry);
    return found == schedule.entries.end() ? 0
                                           : nth(schedule.live, found - schedule.entries.begin());
  }

  bool lower_the_peak() {
    const std::vector<ScoredNodes> found = candidates();
    const ScheduleEntry peak = nth(schedule_.entries, schedule_.peak);
    for (size_t i = 0; i < std::min(found.size(), kMaxTries); ++i) {
      next_.recomputed = schedule_.recomputed;
      for (const int node : found[i].nodes) nth(next_.recomputed, node) = found[i].how;
      builder_.build(next_);
      if (next_.valid && next_.peak_bytes <= schedule_.peak_bytes &&
          extra_work(builder_, next_) <= most_work_ &&
          live_at(next_, peak) < schedule_.peak_bytes) {
        std::swap(schedule_, next_);
        return true;
      }
    }
    return false;
  }

  // Keeps nodes whose recomputation proves needless, those of the most work first.
  void keep_needless(int64_t enough) {
    std::vector<int> chosen;
    for (int n = 0; n < builder_.loss_node(); ++n) {
      if (choice_of(n) != Recompute::no && !builder_.rule(n).free) chosen.push_back(n);
    }
    std::stable_sort(chosen.begin(), chosen.end(), [this](int a, int b) {
      return builder_.rule(a).work > builder_.rule(b).work;
    });
    for (const int node : chosen) {
      for (const Recompute less : {Recompute::no, Recompute::once}) {
        if (less == choice_of(node)) break;
        next_.recomputed = schedule_.recomputed;
        nth(next_.recomputed, node) = less;
        builder_.build(next_);
        if (!next_.valid || next_.peak_bytes > enough) continue;
        std::swap(schedule_, next_);
        break;
      }
    }
  }

  const ScheduleBuilder& builder_;
  const RecomputeOptions& options_;
  double weight_of_work_;
  Ranking ranking_;
  double most_work_ = std::numeric_limits<double>::infinity();  // of recomputation
  RematSchedule schedule_;
  RematSchedule next_;  // the schedule that is being tried
};

RematSchedule greedy(const ScheduleBuilder& builder, const RecomputeOptions& options) {
  Best best(builder, {builder.graph(), options});
  const RematSchedule start = options.slack > 0.0  // start from the cheap nodes
                                  ? greedy(builder, {.arena = options.arena})
                                  : with_views_recomputed(builder);
  for (const double weight_of_work : {1.0, 2.0, 0.5}) {
    best.consider(Chooser(builder, options, weight_of_work, start).chosen());
  }
  return best.schedule();
}

// Schedules that keep the ends of segments, the most promising first.
std::vector<RematSchedule> segmented(const ScheduleBuilder& builder, const std::vector<char>& may,
                                     const Best& best) {
  const Segments segments(builder, may);
  std::vector<RematSchedule> starts;
  for (int count = 1; count <= kMaxSegments; ++count) {
    RematSchedule start = builder.build(segments.start(count));
    if (start.valid) starts.push_back(std::move(start));
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [&best](const RematSchedule& a, const RematSchedule& b) {
                     return best.rank(a) < best.rank(b);
                   });
  const size_t most = std::max(kMaxStartNodes / builder.graph().nodes.size(), kLeastStarts);
  starts.resize(std::min(starts.size(), most));
  return starts;
}

// Searches from several starts, because greedy choices lead to different ends. first: the result
// from the step as it is.
RematSchedule searched(const ScheduleBuilder& builder, const RecomputeOptions& options,
                       RematSchedule first) {
  if (!options.any_op) return first;
  Best best(builder, {builder.graph(), options});
  best.consider(std::move(first));
  std::vector<char> may(builder.graph().nodes.size(), 0);
  std::vector<int> open;
  for (int n = 0; n < builder.loss_node(); ++n) {
    if (!is_allowed(builder, options, n)) continue;
    nth(may, n) = 1;
    if (!builder.rule(n).free) open.push_back(n);
  }
  for (RematSchedule& start : segmented(builder, may, best)) {
    best.consider(Chooser(builder, options, 1.0, std::move(start)).chosen());
  }
  const auto anneal_to = [&](int64_t bytes) {
    RematSchedule end = anneal(builder, open, best.schedule(), std::max<int64_t>(bytes, 1));
    best.consider(Chooser(builder, options, 1.0, std::move(end)).chosen());
  };
  // Anneal towards the target. For the smallest choice, then reduce its work.
  anneal_to(std::max(options.target_bytes, best.schedule().peak_bytes / 2));
  if (options.target_bytes == 0) anneal_to(best.schedule().peak_bytes);
  return best.schedule();
}

}  // namespace

bool has_backward_part(const ir::Graph& graph) {
  return graph.loss && graph.data(*graph.loss).producer >= 0;
}

ir::Graph recompute_as_ordered(const ir::Graph& graph, const RecomputeOptions& options) {
  if (!has_backward_part(graph)) return graph;
  const ScheduleBuilder builder(graph, options.arena);
  return builder.graph_of(searched(builder, options, greedy(builder, options)));
}

Recomputation find_recomputation(std::span<const ir::Graph> orders,
                                 const RecomputeOptions& options) {
  if (!has_backward_part(orders.front())) {
    return {order_nodes(orders.front(), options.arena), 0, {}};
  }
  const Ranking ranking(orders.front(), options);
  std::optional<Ranking::Rank> least;
  Recomputation best;  // in its own best order
  const auto consider = [&](const ScheduleBuilder& builder, size_t order,
                            const RematSchedule& schedule) {
    ir::Graph graph = order_nodes(builder.graph_of(schedule), options.arena, kQuickOrder);
    const int64_t peak = live_peak_bytes(graph, options.arena);
    const Ranking::Rank rank = ranking.of(peak, extra_work(builder, schedule));
    if (least && rank >= *least) return false;
    least = rank;
    best = {std::move(graph), static_cast<int>(order), schedule.recomputed};
    return true;
  };
  std::unique_ptr<const ScheduleBuilder> chosen;  // of best.order
  RematSchedule first;
  for (size_t i = 0; i < orders.size(); ++i) {
    auto builder = std::make_unique<const ScheduleBuilder>(orders[i], options.arena);
    RematSchedule schedule = greedy(*builder, options);
    if (!consider(*builder, i, schedule)) continue;
    chosen = std::move(builder);
    first = std::move(schedule);
  }
  consider(*chosen, static_cast<size_t>(best.order), searched(*chosen, options, std::move(first)));
  if (!options.quick_order) best.graph = order_nodes(best.graph, options.arena);
  return best;
}

ir::Graph apply_recomputation(const ir::Graph& order, const std::vector<Recompute>& nodes,
                              const ArenaOptions& options) {
  if (!has_backward_part(order)) return order_nodes(order, options);
  const ScheduleBuilder builder(order, options);
  const RematSchedule schedule = builder.build(nodes);
  if (!schedule.valid) {
    throw Error("recomputation", "a node would read a parameter after its update");
  }
  return order_nodes(order_nodes(builder.graph_of(schedule), options, kQuickOrder), options);
}

}  // namespace thimble::plan
