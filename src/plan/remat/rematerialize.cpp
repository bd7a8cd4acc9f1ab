#include "plan/remat/rematerialize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "plan/order/order.h"
#include "plan/remat/anneal.h"
#include "plan/remat/schedule.h"
#include "plan/remat/segments.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// So many choices are tried at one fullest moment before it counts as not to be lowered.
constexpr size_t kMaxTries = 48;

// Steps of all trials of exchange: some hundredths of a second.
constexpr size_t kMaxExchangeNodes = 500'000;

constexpr int kMaxSegments = 16;

// Nodes of the steps that are searched from a start each; few starts of a long step are left.
constexpr size_t kMaxStartNodes = 10'000;
constexpr size_t kLeastStarts = 4;

// Of orders that are compared; that of the result is searched with the usual limits.
constexpr OrderLimits kQuickOrder{.exact_work = 20'000, .beam_work = 20'000};

constexpr int kNever = std::numeric_limits<int>::max();

// Nodes that might run again together, and what is expected of it at the fullest moment.
struct Candidate {
  std::vector<int> nodes;
  Again how = Again::once;
  double score = 0.0;
};

// The lower, the better: less peak above the target, then less work; with slack bytes of the whole
// step times its work, which weighs the one against the other.
class Ranking {
 public:
  using Rank = std::pair<double, double>;

  Ranking(const ir::Graph& graph, const RecomputeOptions& options)
      : options_(options), work_(work_of(graph)), resident_(resident_bytes(graph, {})) {}

  [[nodiscard]] double work() const { return work_; }  // of the step as it is
  [[nodiscard]] Rank of(int64_t peak_bytes, double extra_work) const {
    if (options_.slack > 0.0) {
      return {static_cast<double>(resident_ + peak_bytes) * (work_ + extra_work), extra_work};
    }
    return {static_cast<double>(std::max(peak_bytes, options_.target_bytes)), extra_work};
  }
  [[nodiscard]] Rank of(const Twice& twice, const Trial& trial) const {
    return of(trial.peak_bytes, extra_work(twice, trial));
  }

 private:
  const RecomputeOptions& options_;
  double work_;
  int64_t resident_;
};

// Where in a trial each value of the graph is read: as it was first made, and made again.
class Reads {
 public:
  Reads(const Twice& twice, const Trial& trial) : reads_(twice.graph().values.size()) {
    const auto values = static_cast<int>(reads_.size());
    for (int at = 0; at < trial.sequence.size(); ++at) {
      const Turn& turn = trial.turns[static_cast<size_t>(at)];
      const bool late = turn.again || turn.node > twice.loss_node();
      for (const int read : trial.sequence.inputs(at)) {
        if (read < 0) continue;
        Where& where = reads_[static_cast<size_t>(trial.original[static_cast<size_t>(read)])];
        where.last = at;
        if (read < values && !late) where.last_early = at;
        if (late) where.first_late = std::min(where.first_late, at);
        if (at == trial.peak) where.at_peak = true;
      }
    }
  }

  struct Where {
    int last_early = -1;
    int first_late = kNever;
    int last = -1;
    bool at_peak = false;
  };
  [[nodiscard]] const Where& of(int id) const { return reads_[static_cast<size_t>(id)]; }

 private:
  std::vector<Where> reads_;
};

bool may_run_again(const Twice& twice, const RecomputeOptions& options, int node) {
  const Twice::Maker& maker = twice.maker(node);
  return maker.op != nullptr &&
         (maker.cheap || options.any_op || (maker.affordable && options.slack > 0.0));
}

// Nothing runs again but views, which lie where their input lies: they cost nothing. Not even they
// where that makes too many turns.
Trial with_views_again(const Twice& twice) {
  const std::vector<Again> never(twice.graph().nodes.size(), Again::no);
  std::vector<Again> again = never;
  for (size_t n = 0; n < again.size(); ++n) {
    const Twice::Maker& maker = twice.maker(static_cast<int>(n));
    if (maker.op != nullptr && maker.free) again[n] = Again::each;
  }
  Trial trial = twice.build(std::move(again));
  return trial.valid ? trial : twice.build(never);
}

class Chooser {
 public:
  // weight_of_work: 1 takes what frees most for a unit of work, more what takes little work, less
  // what frees much.
  Chooser(const Twice& twice, const RecomputeOptions& options, double weight_of_work, Trial start)
      : twice_(twice),
        options_(options),
        weight_of_work_(weight_of_work),
        ranking_(twice.graph(), options),
        trial_(std::move(start)) {
    if (options.slack > 0.0) {
      most_work_ = extra_work(twice, trial_) + options.slack * ranking_.work();
    }
  }

  [[nodiscard]] Trial chosen() {
    std::optional<Trial> best;
    if (options_.slack > 0.0) best = trial_;
    while (trial_.peak_bytes > options_.target_bytes && lower_the_peak()) {
      if (best && ranking_.of(twice_, trial_) < ranking_.of(twice_, *best)) best = trial_;
    }
    if (best) trial_ = std::move(*best);
    keep_what_need_not_run_again(enough());
    return std::move(trial_);
  }

  [[nodiscard]] Trial exchanged() {
    while (exchange(enough())) {
    }
    return std::move(trial_);
  }

 private:
  [[nodiscard]] int64_t enough() const {
    return std::max(options_.target_bytes, trial_.peak_bytes);
  }

  [[nodiscard]] Again again(int node) const { return trial_.again[static_cast<size_t>(node)]; }

  [[nodiscard]] bool may_run_again(int node) const {
    return plan::may_run_again(twice_, options_, node);
  }

  // Bytes that lie about unread at the fullest moment unless the node runs again; `until`: the last
  // turn that wants one of its outputs made again.
  [[nodiscard]] int64_t idle_bytes(int node, Again how, const Reads& reads, int& until) const {
    int64_t idle = 0;
    for (const int id : twice_.maker(node).outputs) {
      const Reads::Where& where = reads.of(id);
      if (where.first_late == kNever) continue;
      until = std::max(until, how == Again::once ? where.first_late : where.last);
      const bool waits = how == Again::once ? where.first_late > trial_.peak
                                            : where.last > trial_.peak && !where.at_peak;
      const bool is_kept = where.last_early < trial_.peak || again(node) == Again::once;
      const bool is_made = again(node) == Again::no || where.first_late < trial_.peak;
      if (waits && is_kept && is_made) idle += twice_.bytes(id);
    }
    return idle;
  }

  // A node that runs again, and with `closed` what else must, so that nothing is kept for it alone.
  // No nodes: it would free nothing.
  [[nodiscard]] Candidate candidate(int node, Again how, const Reads& reads, bool closed) const {
    int until = -1;
    int64_t freed = idle_bytes(node, how, reads, until);
    if (freed <= 0) return {};
    Candidate result{{node}, how, 0.0};
    double work = 1.0;
    for (size_t i = 0; i < result.nodes.size(); ++i) {
      const Twice::Maker& maker = twice_.maker(result.nodes[i]);
      work += maker.work;
      for (const int id : maker.inputs) {
        if (id < 0 || twice_.bytes(id) == kPersistent || reads.of(id).last >= until) continue;
        const int producer = twice_.early_producer(id);
        if (producer >= 0 && twice_.is_made(id)) {
          const bool too =
              std::find(result.nodes.begin(), result.nodes.end(), producer) != result.nodes.end();
          if (too || again(producer) != Again::no) continue;
          if (closed && may_run_again(producer)) {
            result.nodes.push_back(producer);
            continue;
          }
        }
        if (reads.of(id).last < trial_.peak) freed -= twice_.bytes(id);
      }
    }
    if (freed <= 0) return {};
    result.score = static_cast<double>(freed) / std::pow(work, weight_of_work_);
    return result;
  }

  [[nodiscard]] std::vector<Candidate> candidates() const {
    const Reads reads(twice_, trial_);
    std::vector<Candidate> found;
    const auto add = [&found](Candidate candidate) {
      if (!candidate.nodes.empty()) found.push_back(std::move(candidate));
    };
    for (int n = 0; n < twice_.loss_node(); ++n) {
      if (!may_run_again(n)) continue;
      for (const Again how : {Again::once, Again::each}) {
        if (how <= again(n)) continue;
        Candidate alone = candidate(n, how, reads, false);
        Candidate closed = candidate(n, how, reads, true);
        if (alone.nodes != closed.nodes) add(std::move(closed));
        add(std::move(alone));
      }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    return found;
  }

  // Bytes alive where the turn of another trial runs in this one; none: it does not run.
  static int64_t live_at(const Trial& trial, const Turn& turn) {
    for (size_t at = 0; at < trial.turns.size(); ++at) {
      if (trial.turns[at].node == turn.node && trial.turns[at].again == turn.again) {
        return trial.live[at];
      }
    }
    return 0;
  }

  bool lower_the_peak() {
    const std::vector<Candidate> found = candidates();
    const Turn fullest = trial_.turns[static_cast<size_t>(trial_.peak)];
    for (size_t i = 0; i < std::min(found.size(), kMaxTries); ++i) {
      next_.again = trial_.again;
      for (const int node : found[i].nodes) next_.again[static_cast<size_t>(node)] = found[i].how;
      twice_.build(next_);
      if (next_.valid && next_.peak_bytes <= trial_.peak_bytes &&
          extra_work(twice_, next_) <= most_work_ && live_at(next_, fullest) < trial_.peak_bytes) {
        std::swap(trial_, next_);
        return true;
      }
    }
    return false;
  }

  // From the most work to the least.
  void keep_what_need_not_run_again(int64_t enough) {
    std::vector<int> chosen = running_again();
    std::stable_sort(chosen.begin(), chosen.end(),
                     [this](int a, int b) { return twice_.maker(a).work > twice_.maker(b).work; });
    for (const int node : chosen) {
      for (const Again less : {Again::no, Again::once}) {
        if (less == again(node)) break;
        next_.again = trial_.again;
        next_.again[static_cast<size_t>(node)] = less;
        twice_.build(next_);
        if (!next_.valid || next_.peak_bytes > enough) continue;
        std::swap(trial_, next_);
        break;
      }
    }
  }

  [[nodiscard]] std::vector<int> running_again() const {
    std::vector<int> nodes;
    for (int n = 0; n < twice_.loss_node(); ++n) {
      if (again(n) != Again::no && !twice_.maker(n).free) nodes.push_back(n);
    }
    return nodes;
  }

  // Lets another node run again, or more often, in place of one that does, where that is less work.
  bool exchange(int64_t enough) {
    for (const int given_up : running_again()) {
      for (const Again less : {Again::no, Again::once}) {
        if (less == again(given_up)) break;
        for (int n = 0; n < twice_.loss_node(); ++n) {
          if (n == given_up || !may_run_again(n) || twice_.maker(n).free) continue;
          for (const Again more : {Again::once, Again::each}) {
            if (more > again(n) && exchange(given_up, less, n, more, enough)) return true;
          }
        }
      }
    }
    return false;
  }

  bool exchange(int given_up, Again less, int taken, Again more, int64_t enough) {
    exchange_nodes_ += twice_.graph().nodes.size();
    if (exchange_nodes_ > kMaxExchangeNodes) return false;
    next_.again = trial_.again;
    next_.again[static_cast<size_t>(given_up)] = less;
    next_.again[static_cast<size_t>(taken)] = more;
    twice_.build(next_);
    if (!next_.valid || next_.peak_bytes > enough ||
        extra_work(twice_, next_) >= extra_work(twice_, trial_)) {
      return false;
    }
    std::swap(trial_, next_);
    return true;
  }

  const Twice& twice_;
  const RecomputeOptions& options_;
  double weight_of_work_;
  Ranking ranking_;
  double most_work_ = std::numeric_limits<double>::infinity();  // that may be done again
  size_t exchange_nodes_ = 0;
  Trial trial_;
  Trial next_;  // that is tried
};

// The best choice found so far.
class Best {
 public:
  Best(const Twice& twice, const RecomputeOptions& options)
      : twice_(twice), ranking_(twice.graph(), options) {}

  void consider(Trial trial) {
    if (trial_ && rank(trial) >= rank(*trial_)) return;
    trial_ = std::move(trial);
  }
  [[nodiscard]] const Trial& trial() const { return *trial_; }
  [[nodiscard]] Ranking::Rank rank(const Trial& trial) const { return ranking_.of(twice_, trial); }

 private:
  const Twice& twice_;
  Ranking ranking_;
  std::optional<Trial> trial_;
};

Trial greedy(const Twice& twice, const RecomputeOptions& options) {
  Best best(twice, options);
  const Trial start = options.slack > 0.0  // what costs little comes first
                          ? greedy(twice, {.arena = options.arena})
                          : with_views_again(twice);
  for (const double weight_of_work : {1.0, 2.0, 0.5}) {
    best.consider(Chooser(twice, options, weight_of_work, start).chosen());
  }
  return best.trial();
}

// Trials in which a number of segments is kept, the most promising first.
std::vector<Trial> segmented(const Twice& twice, const std::vector<char>& may, const Best& best) {
  const Segments segments(twice, may);
  std::vector<Trial> starts;
  for (int count = 1; count <= kMaxSegments; ++count) {
    Trial start = twice.build(segments.start(count));
    if (start.valid) starts.push_back(std::move(start));
  }
  std::stable_sort(starts.begin(), starts.end(),
                   [&best](const Trial& a, const Trial& b) { return best.rank(a) < best.rank(b); });
  const size_t most = std::max(kMaxStartNodes / twice.graph().nodes.size(), kLeastStarts);
  starts.resize(std::min(starts.size(), most));
  return starts;
}

// From several starts, for greedy choices lead to different ends. first: what they lead to from the
// step as it is. Returns the best choice, and others that an order of their own may make better.
std::vector<Trial> searched(const Twice& twice, const RecomputeOptions& options, Trial first) {
  Best best(twice, options);
  best.consider(std::move(first));
  std::vector<Trial> others;
  std::vector<char> may(twice.graph().nodes.size(), 0);
  std::vector<int> open;
  for (int n = 0; n < twice.loss_node(); ++n) {
    if (!may_run_again(twice, options, n)) continue;
    may[static_cast<size_t>(n)] = 1;
    if (!twice.maker(n).free) open.push_back(n);
  }
  if (options.any_op) {
    for (Trial& start : segmented(twice, may, best)) {
      best.consider(Chooser(twice, options, 1.0, std::move(start)).chosen());
    }
    const auto anneal_from = [&](const Trial& start, int64_t bytes) {
      Trial end = anneal(twice, open, start, std::max<int64_t>(bytes, 1));
      best.consider(Chooser(twice, options, 1.0, std::move(end)).chosen());
    };
    // Towards the target. Where that does not lead there, from the smallest there is, which then
    // keeps what it may, or is all that can be had. Of what is smallest, less work.
    anneal_from(best.trial(), std::max(options.target_bytes, best.trial().peak_bytes / 2));
    if (options.target_bytes == 0) {
      anneal_from(best.trial(), best.trial().peak_bytes);
    } else if (best.trial().peak_bytes > options.target_bytes) {
      RecomputeOptions least = options;
      least.target_bytes = 0;
      std::vector<Trial> smallest = searched(twice, least, greedy(twice, least));
      if (smallest.front().peak_bytes > options.target_bytes) return smallest;
      others.push_back(best.trial());
      Trial start = Chooser(twice, options, 1.0, std::move(smallest.front())).chosen();
      best.consider(start);
      anneal_from(start, options.target_bytes);
    }
  }
  if (options.any_op || options.slack > 0.0) {  // what is cheap alone is all chosen where it helps
    best.consider(Chooser(twice, options, 1.0, best.trial()).exchanged());
  }
  others.insert(others.begin(), best.trial());
  return others;
}

// The smallest result so far, in the best order of its own.
class Smallest {
 public:
  Smallest(const ir::Graph& graph, const RecomputeOptions& options)
      : options_(options), ranking_(graph, options) {}

  // Whether it is smaller, or takes less work where both reach the target.
  bool consider(const Twice& twice, const Trial& trial) {
    ir::Graph graph = order_nodes(twice.graph_of(trial), options_.arena, kQuickOrder);
    const int64_t peak = live_peak_bytes(graph, options_.arena);
    const Ranking::Rank rank = ranking_.of(peak, extra_work(twice, trial));
    if (rank_ && rank >= *rank_) return false;
    rank_ = rank;
    graph_ = std::move(graph);
    return true;
  }
  [[nodiscard]] ir::Graph graph() const {
    return options_.quick_order ? graph_ : order_nodes(graph_, options_.arena);
  }

 private:
  const RecomputeOptions& options_;
  Ranking ranking_;
  std::optional<Ranking::Rank> rank_;
  ir::Graph graph_;
};

}  // namespace

bool has_late_part(const ir::Graph& graph) {
  return graph.loss && graph.data(*graph.loss).producer >= 0;
}

ir::Graph recompute_as_ordered(const ir::Graph& graph, const RecomputeOptions& options) {
  if (!has_late_part(graph)) return graph;
  const Twice twice(graph, options.arena);
  return twice.graph_of(searched(twice, options, greedy(twice, options)).front());
}

ir::Graph recompute(std::span<const ir::Graph> orders, const RecomputeOptions& options) {
  if (!has_late_part(orders.front())) return order_nodes(orders.front(), options.arena);
  Smallest smallest(orders.front(), options);
  std::unique_ptr<const Twice> best;
  Trial first;
  for (const ir::Graph& order : orders) {
    auto twice = std::make_unique<const Twice>(order, options.arena);
    Trial trial = greedy(*twice, options);
    if (!smallest.consider(*twice, trial)) continue;
    best = std::move(twice);
    first = std::move(trial);
  }
  for (const Trial& trial : searched(*best, options, std::move(first))) {
    smallest.consider(*best, trial);
  }
  return smallest.graph();
}

ir::Graph recompute(const ir::Graph& graph, const RecomputeOptions& options) {
  return recompute(std::span(&graph, 1), options);
}

}  // namespace thimble::plan
