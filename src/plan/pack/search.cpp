#include "plan/pack/search.h"

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <utility>

#include "plan/pack/preference.h"

namespace thimble::plan {
namespace {

// Initial size of the table of hopeless states, in bits. It doubles when a quarter is used.
constexpr int kFewestBits = 10;
constexpr int kMostBits = 18;
constexpr int kDeepest = 1000;  // keeps the recursion within any thread's stack
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

bool same_needs(const Item& a, const Item& b) {
  return a.first == b.first && a.last == b.last && a.size == b.size && a.alignment == b.alignment;
}

// Nodes of a try: so many, and as many more after every kTriesOfLength tries.
constexpr int64_t kNodesOfTry = 500;
constexpr int64_t kTriesOfLength = 8;

// Draws three different keys.
Keys any_keys(std::mt19937_64& random) {
  std::array<Key, 6> keys = {Key::load, Key::load_sum, Key::duration,
                             Key::size, Key::area,     Key::overlaps};
  for (size_t i = 0; i < 3; ++i) std::swap(keys[i], keys[i + random() % (keys.size() - i)]);
  return {keys[0], keys[1], keys[2]};
}

constexpr int kNoItem = -1;

// The sections [first, last) of an item, apart from the rest of it, which is read less often.
struct Life {
  int first, last;
};

// Lists of items are sorted as the problem's are, by the first section.
class PackSearch {
 public:
  struct Attempt {
    std::span<const int> rank;  // per item: the smaller, the earlier it is tried
    bool by_failures = false;   // prefer sections that failed often
    int64_t node_limit = 0;
    int64_t step_limit = 0;  // in steps() as a whole
  };

  PackSearch(const Problem& problem, int64_t height)
      : problem_(problem),
        height_(height),
        items_of_(problem.load.size()),
        hopeless_(size_t{1} << kFewestBits),
        table_bits_(kFewestBits),
        floor_(problem.load.size(), 0),
        left_(problem.load),
        reaching_(problem.load.size() + 1, 0),
        lowest_(problem.items.size(), 0),
        offset_(problem.items.size(), -1),
        weights_(problem.load.size(), 1),
        counts_(problem.load.size() + 1, 0) {
    std::mt19937_64 random(1);  // a fixed seed: the same numbers on every machine
    for (size_t i = 0; i < problem.items.size(); ++i) {
      const Item& item = problem.items[i];
      item_keys_.push_back(random());
      lives_.push_back({item.first, item.last});
      for (int s = item.first; s < item.last; ++s) {
        items_of_[static_cast<size_t>(s)].push_back(static_cast<int>(i));
        if (s > item.first) ++reaching_[static_cast<size_t>(s)];
      }
    }
    for (const std::vector<int>& items : items_of_) witness_.push_back(items.front());
  }

  // Starts from an empty packing. Keeps failures and hopeless states of earlier attempts.
  [[nodiscard]] PackOutcome attempt(const Attempt& attempt) {
    attempt_ = attempt;
    undo(0);
    nodes_ = 0;
    depth_ = 0;
    gave_up_ = false;
    std::vector<int> items(problem_.items.size());
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i);
    const int64_t heaviest = *std::max_element(left_.begin(), left_.end());
    if (heaviest > height_) return PackOutcome::impossible;
    if (solve_spans(0, problem_.sections(), items, kNoItem)) return PackOutcome::found;
    return gave_up_ ? PackOutcome::gave_up : PackOutcome::impossible;
  }

  // Per item; valid after PackOutcome::found.
  [[nodiscard]] const std::vector<int64_t>& offsets() const { return offset_; }
  // Work so far, in items and sections looked at.
  [[nodiscard]] int64_t steps() const { return steps_; }

 private:
  [[nodiscard]] bool waits(int item) const { return offset_[static_cast<size_t>(item)] < 0; }
  [[nodiscard]] const Item& item(int i) const { return problem_.items[static_cast<size_t>(i)]; }
  [[nodiscard]] size_t place_of(uint64_t key) const { return key >> (64 - table_bits_); }

  void set(int64_t& variable, int64_t value) {
    trail_.emplace_back(&variable, variable);
    variable = value;
  }

  void undo(size_t mark) {
    for (; trail_.size() > mark; trail_.pop_back()) *trail_.back().first = trail_.back().second;
  }

  // Solves what is left of a span when the item is placed; kNoItem: all of it, which is connected.
  // Where no waiting item reaches from one section into the next, spans end: every one must be
  // solved, and none depends on another. The shortest goes first, to fail early.
  bool solve_spans(int first, int last, const std::vector<int>& items, int placed) {
    steps_ += static_cast<int64_t>(items.size()) + last - first;
    if (placed == kNoItem) return solve(first, last, items);
    std::vector<std::pair<int, int>> spans;
    int begin = first;
    const auto end_span = [&](int end) {
      if (left_[static_cast<size_t>(begin)] > 0) spans.emplace_back(begin, end);
      begin = end;
    };
    const Life life = lives_[static_cast<size_t>(placed)];
    for (int s = std::max(life.first, first + 1); s < std::min(life.last + 1, last); ++s) {
      if (reaching_[static_cast<size_t>(s)] == 0) end_span(s);
    }
    end_span(last);
    std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
      const int length_a = a.second - a.first;
      const int length_b = b.second - b.first;
      return length_a != length_b ? length_a < length_b : a.first < b.first;
    });
    std::vector<int> inside;
    for (const auto& [begin, end] : spans) {
      inside.clear();
      for (int i : items) {
        const Life& inner = lives_[static_cast<size_t>(i)];
        if (i != placed && inner.first >= begin && inner.last <= end) inside.push_back(i);
      }
      if (!solve(begin, end, inside)) return false;
    }
    return true;
  }

  bool solve(int first, int last, const std::vector<int>& items) {
    ++nodes_;
    if (nodes_ > attempt_.node_limit || steps_ > attempt_.step_limit || depth_ > kDeepest) {
      gave_up_ = true;
      return false;
    }
    const uint64_t key = state_key(first, last, items);
    if (hopeless_[place_of(key)] == key) return false;
    const int section = choose(first, last, items);
    const size_t s = static_cast<size_t>(section);
    const std::vector<int> next = candidates(section);
    const size_t mark = trail_.size();
    for (size_t k = 0; k < next.size(); ++k) {
      const bool is_tried =
          std::any_of(next.begin(), next.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](int other) { return same_needs(item(other), item(next[k])); });
      if (is_tried) continue;  // an equal item was
      place(next[k], items);
      if (try_rest(first, last, items, mark, next[k])) return true;
      if (gave_up_) return false;
    }
    const int64_t above = floor_above_gap(section, items);
    if (above <= height_ - left_[s]) {
      lift(section, section + 1, above, items);
      if (try_rest(first, last, items, mark, kNoItem)) return true;
      if (gave_up_) return false;
    }
    remember(key);
    return false;
  }

  void remember(uint64_t key) {
    if (4 * remembered_ >= hopeless_.size() && table_bits_ < kMostBits) {
      ++table_bits_;
      std::vector<uint64_t> larger(2 * hopeless_.size());
      for (const uint64_t known : hopeless_) {
        if (known != 0) larger[place_of(known)] = known;
      }
      hopeless_ = std::move(larger);
    }
    uint64_t& place = hopeless_[place_of(key)];
    if (place == 0) ++remembered_;
    place = key;
  }

  // Continues with the state as changed since the mark, and undoes the change on failure.
  bool try_rest(int first, int last, const std::vector<int>& items, size_t mark, int placed) {
    ++depth_;
    const bool solved = infer(first, last) && solve_spans(first, last, items, placed);
    --depth_;
    if (!solved) undo(mark);
    return solved;
  }

  // A hash of the waiting items and the floors, which determine the rest. Never 0.
  uint64_t state_key(int first, int last, const std::vector<int>& items) const {
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15U;
    uint64_t key = 0;
    for (int i : items) key ^= item_keys_[static_cast<size_t>(i)];
    for (int s = first; s < last; ++s) {
      key = (key ^ static_cast<uint64_t>(floor_[static_cast<size_t>(s)])) * kMix;
      key ^= key >> 29;
    }
    return key | 1;
  }

  // A section in a valley that has few candidates.
  int choose(int first, int last, const std::vector<int>& items) {
    // Per section: items that can lie on its floor, if it is in a valley.
    std::fill(counts_.begin() + first, counts_.begin() + last + 1, 0);
    for (int i : items) {
      const Life& fits = lives_[static_cast<size_t>(i)];
      if (lowest_[static_cast<size_t>(i)] != floor_[static_cast<size_t>(fits.first)]) continue;
      ++counts_[static_cast<size_t>(fits.first)];
      --counts_[static_cast<size_t>(fits.last)];
    }
    steps_ += static_cast<int64_t>(items.size()) + last - first;
    int best = -1;
    double best_ways = std::numeric_limits<double>::max();
    int fitting = 0;
    for (int begin = first; begin < last;) {
      const int64_t floor = floor_[static_cast<size_t>(begin)];
      int end = begin + 1;
      while (end < last && floor_[static_cast<size_t>(end)] == floor) ++end;
      const bool valley = (begin == first || floor_[static_cast<size_t>(begin) - 1] > floor) &&
                          (end == last || floor_[static_cast<size_t>(end)] > floor);
      for (int s = begin; s < end; ++s) {
        const size_t section = static_cast<size_t>(s);
        fitting += counts_[section];
        if (!valley) continue;
        const bool gap = floor + left_[section] < height_;
        double ways = static_cast<double>(fitting) + (gap ? 1 : 0);
        if (ways <= 1) return s;  // there is no choice
        if (attempt_.by_failures) ways /= static_cast<double>(weights_[section]);
        if (ways < best_ways) {
          best_ways = ways;
          best = s;
        }
      }
      begin = end;
    }
    return best;
  }

  // Items that can lie on the section's floor, in the order of this attempt.
  std::vector<int> candidates(int section) {
    const size_t s = static_cast<size_t>(section);
    std::vector<int> list;
    for (int i : items_of_[s]) {
      if (waits(i) && lowest_[static_cast<size_t>(i)] == floor_[s]) list.push_back(i);
    }
    std::sort(list.begin(), list.end(), [&](int a, int b) {
      return attempt_.rank[static_cast<size_t>(a)] < attempt_.rank[static_cast<size_t>(b)];
    });
    return list;
  }

  // The lowest offset in a section of any item that waits, if none lies on its floor: an item that
  // could lie there then rests on another one.
  int64_t floor_above_gap(int section, const std::vector<int>& items) {
    const size_t s = static_cast<size_t>(section);
    int64_t above = kHighest;
    for (int i : items_of_[s]) {
      const int64_t lowest = lowest_[static_cast<size_t>(i)];
      if (!waits(i)) continue;
      if (lowest > floor_[s]) {
        above = std::min(above, lowest);
        continue;
      }
      steps_ += static_cast<int64_t>(items.size());
      for (int under : items) {
        const Life& support = lives_[static_cast<size_t>(under)];
        if (support.first >= item(i).last) break;  // so do all behind it
        if (support.last <= item(i).first || under == i || !waits(under)) continue;
        above = std::min(above, lowest_[static_cast<size_t>(under)] + item(under).size);
      }
    }
    return above;
  }

  void place(int i, const std::vector<int>& items) {
    const Item& placed = item(i);
    const int64_t offset = lowest_[static_cast<size_t>(i)];
    set(offset_[static_cast<size_t>(i)], offset);
    for (int s = placed.first; s < placed.last; ++s) {
      int64_t& left = left_[static_cast<size_t>(s)];
      set(left, left - placed.size);
      int64_t& reaching = reaching_[static_cast<size_t>(s)];
      if (s > placed.first) set(reaching, reaching - 1);
    }
    lift(placed.first, placed.last, offset + placed.size, items);
  }

  // Raises the floor of sections, and with it the items that wait there.
  void lift(int first, int last, int64_t floor, const std::vector<int>& items) {
    for (int s = first; s < last; ++s) set(floor_[static_cast<size_t>(s)], floor);
    steps_ += static_cast<int64_t>(items.size());
    for (int i : items) {
      const Life& life = lives_[static_cast<size_t>(i)];
      if (life.first >= last) break;  // so do all behind it
      int64_t& lowest = lowest_[static_cast<size_t>(i)];
      if (life.last <= first || lowest >= floor || !waits(i)) continue;
      set(lowest, rounded_up(floor, item(i).alignment));
    }
  }

  // Raises floors to the lowest offset of waiting items in their section. False: one is too full.
  bool infer(int first, int last) {
    for (int section = first; section < last; ++section) {
      const size_t s = static_cast<size_t>(section);
      if (left_[s] == 0) continue;
      // The floor stays if a waiting item can lie on it. Mostly it is the item found last time.
      const auto on_floor = [&](int i) {
        return waits(i) && lowest_[static_cast<size_t>(i)] <= floor_[s];
      };
      int64_t lowest = floor_[s];
      ++steps_;
      if (!on_floor(witness_[s])) {
        lowest = kHighest;
        for (int i : items_of_[s]) {
          ++steps_;
          if (!waits(i)) continue;
          if (lowest_[static_cast<size_t>(i)] < lowest) {
            lowest = lowest_[static_cast<size_t>(i)];
            witness_[s] = i;
            if (lowest <= floor_[s]) break;
          }
        }
      }
      if (lowest > floor_[s]) set(floor_[s], lowest);
      if (floor_[s] + left_[s] > height_) {
        ++weights_[s];
        return false;
      }
    }
    return true;
  }

  const Problem& problem_;
  int64_t height_;
  std::vector<Life> lives_;                 // per item
  std::vector<std::vector<int>> items_of_;  // per section
  std::vector<uint64_t> item_keys_;
  std::vector<uint64_t> hopeless_;  // keys of states, by their upper bits; 0: none
  int table_bits_;
  size_t remembered_ = 0;  // places taken

  // The state. Only set() changes it, so that it can be undone.
  std::vector<int64_t> floor_;     // per section
  std::vector<int64_t> left_;      // per section: sizes of the items that wait
  std::vector<int64_t> reaching_;  // per section: items that wait and reach into it from the left
  std::vector<int64_t> lowest_;    // per item that waits: the lowest offset it can still get
  std::vector<int64_t> offset_;    // per item; -1: it waits
  std::vector<std::pair<int64_t*, int64_t>> trail_;

  Attempt attempt_;
  std::vector<int64_t> weights_;  // per section: 1 + how often it was found too full
  std::vector<int> witness_;      // per section: an item that lay on the floor, a hint
  std::vector<int> counts_;       // per section: scratch
  int64_t nodes_ = 0;
  int64_t steps_ = 0;
  int depth_ = 0;
  bool gave_up_ = false;
};

}  // namespace

PackSearchResult search_packing(const Problem& problem, int64_t height, int64_t step_limit) {
  PackSearch search(problem, height);
  std::mt19937_64 random(0);  // a fixed seed: the same numbers on every machine
  const auto known = static_cast<int64_t>(kKeys.size());
  auto outcome = PackOutcome::gave_up;
  for (int64_t number = 0; outcome == PackOutcome::gave_up && search.steps() < step_limit;
       ++number) {
    // First the known orders, with both ways of choosing sections, then random ones.
    const Keys keys =
        number < 2 * known ? kKeys[static_cast<size_t>(number % known)] : any_keys(random);
    const std::vector<int> rank = rank_by(keys, problem);
    outcome = search.attempt({.rank = rank,
                              .by_failures = (number + number / known) % 2 == 0,
                              .node_limit = kNodesOfTry * (1 + number / kTriesOfLength),
                              .step_limit = step_limit});
  }
  return {outcome, search.offsets(), search.steps()};
}

}  // namespace thimble::plan
