#include "plan/swap/choice.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "plan/swap/live_bytes.h"

namespace thimble::plan {
namespace {

// Least time of a transfer, so that scores stay finite.
constexpr double kLeastAddedMs = 1e-9;

constexpr double kUnknown = std::numeric_limits<double>::infinity();

// A change of an item's `out`.
struct Cut {
  int item = -1;
  int gap = -1;       // index into out; -1: only the ends
  bool ends = false;  // also before the first and after the last access
};

// What is known of a cut. Changes of its own item make it unknown.
struct Known {
  // The last computed bytes saved per millisecond; unknown is more than any. Cuts of other items
  // only lower it.
  double score = kUnknown;
  double added_ms = kUnknown;
};

// Steps from first to before last.
struct Span {
  int first;
  int last;
};

class Choosing {
 public:
  Choosing(std::vector<SwapItem>& items, const Live& live, const SwapOptions& options)
      : items_(items), live_(live), options_(options), steps_(static_cast<int>(live.size())) {
    for (const SwapItem& each : items) {
      known_.emplace_back(each.out.size());
      spans_.push_back(span_of(each));
    }
  }

  // The live bytes that are left.
  Live run() {
    if (options_.in_file) apply_given_cuts();
    while (cut_at_the_peak()) {
    }
    take_back();
    return live_.values();
  }

 private:
  [[nodiscard]] SwapItem& item(int number) { return items_[static_cast<size_t>(number)]; }

  void apply_given_cuts() {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (options_.in_file->count(items_[i].name) == 0) continue;
      apply({static_cast<int>(i), -1, true}, true);
    }
  }

  // Calls use(first, last) for each range of steps that a cut frees.
  template <typename Use>
  void for_each_freed(const Cut& cut, const Use& use) {
    const std::vector<Access>& accesses = item(cut.item).accesses;
    if (cut.ends) {
      use(0, accesses.empty() ? steps_ : accesses.front().step);
      if (!accesses.empty()) use(accesses.back().step + 1, steps_);
    }
    if (cut.gap > 0) {
      const auto gap = static_cast<size_t>(cut.gap);
      use(accesses[gap - 1].step + 1, accesses[gap].step);
    }
  }

  static void set_out(const Cut& cut, std::vector<char>& out, bool is_out) {
    if (cut.ends) out.front() = out.back() = is_out ? 1 : 0;
    if (cut.gap > 0) out[static_cast<size_t>(cut.gap)] = is_out ? 1 : 0;
  }

  void apply(const Cut& cut, bool out) {
    std::vector<Known>& known = known_[static_cast<size_t>(cut.item)];
    std::fill(known.begin(), known.end(), Known{});
    set_out(cut, item(cut.item).out, out);
    const int64_t added = out ? -item(cut.item).bytes : item(cut.item).bytes;
    for_each_freed(cut, [&](int first, int last) { live_.add(first, last, added); });
  }

  // Bytes above the target that a cut takes away, summed over the steps.
  [[nodiscard]] double benefit(const Cut& cut) {
    int64_t sum = 0;
    for_each_freed(cut, [&, bytes = item(cut.item).bytes](int first, int last) {
      sum += live_.above(options_.target_bytes, first, last, bytes);
    });
    return static_cast<double>(sum);
  }

  // Time that the cut adds to the transfers of its item.
  [[nodiscard]] double added_ms(const Cut& cut) {
    SwapItem& changed = item(cut.item);
    const double before = transfers_ms(changed);
    const std::vector<char> kept = changed.out;
    set_out(cut, changed.out, true);
    const double after = transfers_ms(changed);
    changed.out = kept;
    return after - before;
  }

  [[nodiscard]] double transfers_ms(const SwapItem& of) const {
    if (!of.is_swapped()) return 0.0;
    double ms = 0.0;
    for (const Residency& residency : residencies_of(of, 0)) {
      if (residency.fetched) ms += options_.costs.read_ms(of.bytes);
      if (residency.stored) ms += options_.costs.write_ms(of.bytes);
    }
    return ms;
  }

  // The steps in which a cut may free memory.
  [[nodiscard]] Span span_of(const SwapItem& of) const {
    if (of.accesses.empty() && !of.persistent()) return {0, 0};
    if (!of.persistent()) return {of.accesses.front().step + 1, of.accesses.back().step};
    const bool in_file = !options_.in_file || options_.in_file->count(of.name) > 0;
    return {0, in_file ? steps_ : 0};
  }

  // The cut of an item that frees memory at a step of its span, or none.
  [[nodiscard]] Cut cut_at(int number, int step) {
    const SwapItem& of = item(number);
    const auto next = std::upper_bound(of.accesses.begin(), of.accesses.end(), step,
                                       [](int t, const Access& a) { return t < a.step; });
    if (next != of.accesses.begin() && std::prev(next)->step == step) return {};
    const auto gap = static_cast<int>(next - of.accesses.begin());
    const bool inner = gap > 0 && next != of.accesses.end();
    if (of.out[static_cast<size_t>(gap)] != 0) return {};
    return {number, inner ? gap : -1, of.persistent() && of.out.front() == 0};
  }

  bool cut_at_the_peak() {
    if (live_.peak() <= options_.target_bytes) return false;
    const Cut best = best_at(live_.peak_step());
    if (best.item < 0) return false;
    apply(best, true);
    cuts_.push_back(best);
    return true;
  }

  // The cut with the best score; of equal ones that of the first item. Old scores are bounds: only
  // cuts with a bound above the best score are computed.
  [[nodiscard]] Cut best_at(int step) {
    candidates_.clear();
    for (int number = 0; number < static_cast<int>(items_.size()); ++number) {
      const Span& span = spans_[static_cast<size_t>(number)];
      if (step < span.first || step >= span.last) continue;
      const Cut cut = cut_at(number, step);
      if (cut.item >= 0) candidates_.push_back({known(cut).score, cut});
    }
    if (candidates_.empty()) return {};
    // Most bounds are below the score of the cut with the best bound.
    const auto first = std::max_element(candidates_.begin(), candidates_.end(), is_worse);
    Candidate best = scored(first->cut);
    candidates_.erase(first);
    const auto last =
        std::partition(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& each) { return each.score > best.score; });
    std::sort(candidates_.begin(), last,
              [](const Candidate& a, const Candidate& b) { return is_worse(b, a); });
    for (auto next = candidates_.begin(); next != last && next->score > best.score; ++next) {
      const Candidate computed = scored(next->cut);
      if (is_worse(best, computed)) best = computed;
    }
    return best.cut;
  }

  struct Candidate {
    double score;
    Cut cut;
  };

  static bool is_worse(const Candidate& a, const Candidate& b) {
    return std::tuple(a.score, -a.cut.item) < std::tuple(b.score, -b.cut.item);
  }

  [[nodiscard]] Candidate scored(const Cut& cut) {
    Known& of = known(cut);
    if (of.added_ms == kUnknown) of.added_ms = added_ms(cut);
    of.score = benefit(cut) / std::max(of.added_ms, kLeastAddedMs);
    return {of.score, cut};
  }

  [[nodiscard]] Known& known(const Cut& cut) {
    return known_[static_cast<size_t>(cut.item)][static_cast<size_t>(std::max(cut.gap, 0))];
  }

  // Takes back cuts that the target does not need, the longest transfers first.
  void take_back() {
    const int64_t enough = std::max(options_.target_bytes, live_.peak());
    std::stable_sort(cuts_.begin(), cuts_.end(), [this](const Cut& a, const Cut& b) {
      return item(a.item).bytes > item(b.item).bytes;
    });
    // Two passes: the ends of an item can be taken back only after everything between them.
    for (int pass = 0; pass < 2; ++pass) {
      for (const Cut& cut : cuts_) {
        const Cut back = still_out(cut);
        if (back.item < 0) continue;
        apply(back, false);
        if (live_.peak() > enough) apply(back, true);
      }
    }
  }

  // The part of a cut that can be taken back. The ends stay out as long as anything between them is
  // out.
  [[nodiscard]] Cut still_out(const Cut& cut) {
    const std::vector<char>& out = item(cut.item).out;
    Cut back = cut;
    if (back.gap > 0 && out[static_cast<size_t>(back.gap)] == 0) back.gap = -1;
    const auto all = std::count(out.begin(), out.end(), 1);
    const auto outer = out.size() > 1 ? out.front() + out.back() : out.front();
    back.ends = cut.ends && out.front() != 0 && all - outer == (back.gap > 0 ? 1 : 0);
    return back.ends || back.gap > 0 ? back : Cut{};
  }

  std::vector<SwapItem>& items_;
  LiveBytes live_;
  const SwapOptions& options_;
  int steps_;
  std::vector<Cut> cuts_;
  std::vector<std::vector<Known>> known_;  // by item and gap
  std::vector<Span> spans_;                // by item
  std::vector<Candidate> candidates_;      // of best_at
};

// Start time of each node, and the end of the step.
std::vector<double> begins(const SwapCosts& costs) {
  std::vector<double> begin(costs.node_ms.size() + 1, 0.0);
  for (size_t n = 0; n < costs.node_ms.size(); ++n) begin[n + 1] = begin[n] + costs.node_ms[n];
  return begin;
}

// Multiples of its duration that a transfer is given: first once, then, if memory is left, twice,
// because steps and disks are not always as fast.
constexpr double kLeads[] = {1.0, 2.0};

class Placing {
 public:
  Placing(const std::vector<SwapItem>& items, Live& live, const SwapOptions& options)
      : items_(items),
        live_(live),
        options_(options),
        begins_(begins(options.costs)),
        residencies_(residencies_of(items)) {}

  std::vector<Residency> run() {
    for (const double times : kLeads) {
      begin_reads_early(times);
      end_writes_late(times);
    }
    sort_by_start(residencies_);
    return std::move(residencies_);
  }

 private:
  [[nodiscard]] int64_t bytes(const Residency& residency) const {
    return items_[static_cast<size_t>(residency.item)].bytes;
  }
  // Extends a residency by a step if the target allows it.
  bool take(int step, const Residency& residency) {
    int64_t& live = live_[static_cast<size_t>(step)];
    if (live + bytes(residency) > options_.target_bytes) return false;
    live += bytes(residency);
    return true;
  }
  // The previous or next residency of the same item, or null. Residencies stand item by item.
  [[nodiscard]] const Residency* neighbour(size_t at, int by) const {
    const size_t other = at + static_cast<size_t>(by);
    return other < residencies_.size() && residencies_[other].item == residencies_[at].item
               ? &residencies_[other]
               : nullptr;
  }

  // From the last read to the first: each must be done when the next one begins.
  void begin_reads_early(double times) {
    std::vector<size_t> reads;
    for (size_t i = 0; i < residencies_.size(); ++i) {
      if (residencies_[i].fetched) reads.push_back(i);
    }
    std::stable_sort(reads.begin(), reads.end(), [this](size_t a, size_t b) {
      return residencies_[a].first > residencies_[b].first;
    });
    double next = begins_.back();
    for (const size_t i : reads) {
      Residency& residency = residencies_[i];
      const double needed = begins_[static_cast<size_t>(residency.first)];
      next = std::min(next, needed) - times * options_.costs.read_ms(bytes(residency));
      const Residency* const before = neighbour(i, -1);
      const int earliest = before == nullptr ? 0 : before->written_at + 1;
      while (residency.read_at > earliest &&
             begins_[static_cast<size_t>(residency.read_at)] > next &&
             take(residency.read_at - 1, residency)) {
        --residency.read_at;
      }
    }
  }

  // From the first write to the last: each begins when the one before has ended.
  void end_writes_late(double times) {
    std::vector<size_t> writes = writes_of(residencies_);
    std::stable_sort(writes.begin(), writes.end(), [this](size_t a, size_t b) {
      return residencies_[a].last < residencies_[b].last;
    });
    const auto steps = static_cast<int>(live_.size());
    double done = 0.0;
    for (const size_t i : writes) {
      Residency& residency = residencies_[i];
      done = std::max(done, begins_[static_cast<size_t>(residency.last + 1)]) +
             times * options_.costs.write_ms(bytes(residency));
      const Residency* const after = neighbour(i, 1);
      const int latest = after == nullptr ? steps : after->read_at;
      while (residency.written_at + 1 < latest &&
             begins_[static_cast<size_t>(residency.written_at + 1)] < done &&
             take(residency.written_at + 1, residency)) {
        ++residency.written_at;
      }
    }
  }

  const std::vector<SwapItem>& items_;
  Live& live_;
  const SwapOptions& options_;
  std::vector<double> begins_;
  std::vector<Residency> residencies_;
};

}  // namespace

void choose_swaps(std::vector<SwapItem>& items, Live& live, const SwapOptions& options) {
  live = Choosing(items, live, options).run();
}

std::vector<Residency> place_transfers(const std::vector<SwapItem>& items, Live& live,
                                       const SwapOptions& options) {
  return Placing(items, live, options).run();
}

}  // namespace thimble::plan
