#include "plan/swap/swap.h"

#include <thimble/error.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ir/rewrite.h"
#include "plan/lifetimes.h"
#include "plan/swap/choice.h"
#include "plan/swap/items.h"
#include "plan/swap/simulation.h"
#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// The choice is tried for the target and for lower ones of its series, at about 0.95, 0.9, 0.8 and
// 0.7 of it. What they leave is for reading ahead and writing late.
constexpr int kLowerTargets[] = {3, 7, 14, 23};

// Slots of parameters and state come first, sorted by name, so that they are equal in all programs
// over one store.
void number_slots(std::vector<SwapItem>& items, const std::set<std::string>& in_file,
                  Swapped& swapped) {
  swapped.in_file = in_file;
  for (const SwapItem& item : items) {
    if (item.is_swapped() && item.persistent()) swapped.in_file.insert(item.name);
  }
  swapped.slot_bytes.assign(swapped.in_file.size(), 0);
  std::vector<SwapItem*> buffers;
  for (SwapItem& item : items) {
    if (!item.is_swapped()) continue;
    if (!item.persistent()) {
      buffers.push_back(&item);
      continue;
    }
    const auto place = std::distance(swapped.in_file.begin(), swapped.in_file.find(item.name));
    item.slot = static_cast<int>(place);
    swapped.slot_bytes[static_cast<size_t>(place)] = item.bytes;
  }
  // The largest buffer first, so that buffers of a smaller batch fit into the same slots.
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const SwapItem* a, const SwapItem* b) { return a->bytes > b->bytes; });
  for (SwapItem* const item : buffers) {
    item->slot = static_cast<int>(swapped.slot_bytes.size());
    swapped.slot_bytes.push_back(item->bytes);
  }
}

// Goes through a step with its transfers, in order. `to` is told of each node and transfer:
// read(residency, value), wait_for_read(residency's item, value), node(index), write(residency,
// value) and wait_for_write(item, value), where a value is what the item's memory holds.
template <typename To>
void walk(const ir::Graph& graph, const std::vector<SwapItem>& items,
          const std::vector<Residency>& residencies, To& to) {
  std::vector<int> item_of(graph.values.size(), -1);
  std::vector<int> newest(items.size(), -1);  // by item: the value written last
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_swapped()) continue;
    newest[i] = items[i].values.front();
    for (const int id : items[i].values) item_of[static_cast<size_t>(id)] = static_cast<int>(i);
  }
  std::vector<char> is_fetched(graph.values.size(), 0);  // and not waited for yet
  const std::vector<size_t> ends = writes_of(residencies);
  std::vector<size_t> begins = ends;
  std::stable_sort(begins.begin(), begins.end(), [&residencies](size_t a, size_t b) {
    return residencies[a].last < residencies[b].last;
  });
  auto next_read = residencies.begin();
  auto next_begin = begins.begin();
  auto next_end = ends.begin();
  const auto read_before = [&](int step) {
    for (; next_read != residencies.end() && next_read->read_at <= step; ++next_read) {
      if (!next_read->fetched) continue;
      const std::vector<int>& values = items[static_cast<size_t>(next_read->item)].values;
      to.read(*next_read, values.front());
      for (const int id : values) is_fetched[static_cast<size_t>(id)] = 1;
    }
  };
  const auto write_after = [&](int step) {
    for (; next_begin != begins.end() && residencies[*next_begin].last <= step; ++next_begin) {
      const Residency& residency = residencies[*next_begin];
      to.write(residency, newest[static_cast<size_t>(residency.item)]);
    }
    for (; next_end != ends.end() && residencies[*next_end].written_at <= step; ++next_end) {
      const int item = residencies[*next_end].item;
      to.wait_for_write(item, newest[static_cast<size_t>(item)]);
    }
  };
  write_after(-1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    to.enter(node);
    read_before(static_cast<int>(n));
    for (const int id : node.inputs) {
      if (id < 0 || std::exchange(is_fetched[static_cast<size_t>(id)], 0) == 0) continue;
      to.wait_for_read(item_of[static_cast<size_t>(id)], id);
    }
    to.node(n);
    for (const int id : node.outputs) {
      is_fetched[static_cast<size_t>(id)] = 0;
      const int item = item_of[static_cast<size_t>(id)];
      if (item < 0) continue;
      newest[static_cast<size_t>(item)] = id;
      to.wrote(item, id);
    }
    write_after(static_cast<int>(n));
  }
}

// Copies a graph and inserts the transfers between its nodes.
class Building {
 public:
  Building(const ir::Graph& from, const std::vector<SwapItem>& items)
      : from_(from), items_(items), to_(from), raw_(items.size(), -1) {}

  void enter(const ir::Node& node) { layer_ = node.layer; }
  void read(const Residency& residency, int id) {
    ir::ValueData data = from_.data(id);
    data.fetched = true;
    raw_[static_cast<size_t>(residency.item)] =
        add(swap_read_op(), {.slot = slot(residency.item), .deadline = residency.read_deadline()},
            -1, &data);
  }
  void wait_for_read(int item, int id) {
    const int ready = add(swap_ready_op(), {.slot = slot(item)}, raw_[static_cast<size_t>(item)],
                          &from_.data(id));
    const Value fetched = to_.graph().value(ready);
    to_.replace({.outputs = {id}}, {&fetched, 1});
  }
  void node(size_t n) { to_.copy(from_.nodes[n]); }
  void wrote(int item, int id) {
    if (!items_[static_cast<size_t>(item)].persistent()) return;
    to_.graph().values[static_cast<size_t>(to_.new_id(id))].role = ir::Role::activation;
  }
  void write(const Residency& residency, int id) {
    static_cast<void>(add(swap_write_op(),
                          {.slot = slot(residency.item), .deadline = residency.write_deadline()},
                          to_.new_id(id), nullptr));
  }
  void wait_for_write(int item, int id) {
    static_cast<void>(add(swap_written_op(), {.slot = slot(item)}, to_.new_id(id), nullptr));
  }

  ir::Graph finish() { return std::move(to_).finish(); }

 private:
  [[nodiscard]] int slot(int item) const { return items_[static_cast<size_t>(item)].slot; }

  // Adds a transfer node, with an output like the given value if there is one; returns that, or -1.
  int add(const ir::OpDef& op, SwapAttrs attrs, int input, const ir::ValueData* output) {
    ir::Graph& to = to_.graph();
    ir::Node node{.op = &op, .layer = layer_};
    if (input >= 0) node.inputs = {input};
    if (output != nullptr) {
      attrs.dtype = output->type.dtype;
      attrs.shape = output->type.shape;
      node.outputs = {static_cast<int>(to.values.size())};
      ir::ValueData data{.name = output->name,
                         .type = {attrs.dtype, attrs.shape},
                         .storage = output->storage,
                         .recomputed = output->recomputed,
                         .fetched = output->fetched};
      // A fetched parameter or state lies in the arena like an activation.
      data.role = ir::is_persistent(output->role) ? ir::Role::activation : output->role;
      data.producer = static_cast<int>(to.nodes.size());
      to.values.push_back(std::move(data));
    }
    node.attrs = ir::Attrs::of(attrs);
    to.nodes.push_back(std::move(node));
    return output == nullptr ? -1 : to.nodes.back().outputs[0];
  }

  const ir::Graph& from_;
  const std::vector<SwapItem>& items_;
  ir::Rewriter to_;
  std::vector<int> raw_;  // by item: output of the last read
  int layer_ = -1;        // layer of the current node, which its transfers get
};

// Simulates the step that Building makes.
class Simulating {
 public:
  Simulating(const ir::Graph& graph, const SwapCosts& costs)
      : graph_(graph), costs_(costs), simulation_(costs) {}

  void enter(const ir::Node&) {}
  void read(const Residency& residency, int id) {
    simulation_.begin(slot(residency.item), true, bytes(id), residency.read_deadline());
  }
  void wait_for_read(int item, int) { simulation_.wait(slot(item)); }
  void node(size_t n) { simulation_.compute(costs_.node_ms[n]); }
  void wrote(int, int) {}
  void write(const Residency& residency, int id) {
    simulation_.begin(slot(residency.item), false, bytes(id), residency.write_deadline());
  }
  void wait_for_write(int item, int) { simulation_.wait(slot(item)); }

  [[nodiscard]] const TransferTimes& times() const { return simulation_.times(); }

 private:
  // Any number for each item will do.
  static size_t slot(int item) { return static_cast<size_t>(item); }
  [[nodiscard]] int64_t bytes(int id) const {
    const ir::TensorType& type = graph_.type(id);
    return size_bytes(type.dtype, type.shape);
  }

  const ir::Graph& graph_;
  const SwapCosts& costs_;
  TransferSimulation simulation_;
};

TransferTimes simulated(const ir::Graph& graph, const Transfers& transfers,
                        const SwapCosts& costs) {
  Simulating simulating(graph, costs);
  walk(graph, transfers.items, transfers.residencies, simulating);
  return simulating.times();
}

Transfers nothing_swapped(const ir::Graph& graph, const SwapOptions& options) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options.arena));
  const Sharing sharing(sequence, options.arena.in_place);
  Transfers none{.items = swap_items(graph, sequence, sharing, options.smallest_bytes),
                 .live = live_bytes(sequence, sharing)};
  const int64_t resident = resident_bytes(graph, {});
  for (int64_t& bytes : none.live) bytes += resident;
  return none;
}

SwapDecisions decisions_of(const ir::Graph& graph, const Transfers& chosen) {
  SwapDecisions decisions;
  for (size_t i = 0; i < chosen.items.size(); ++i) {
    const SwapItem& item = chosen.items[i];
    if (!item.is_swapped()) continue;
    decisions.items.push_back({static_cast<int>(i), graph.data(item.values.front()).name, {}});
    for (size_t gap = 0; gap < item.out.size(); ++gap) {
      if (item.out[gap] != 0) decisions.items.back().gaps.push_back(static_cast<int>(gap));
    }
  }
  std::vector<Residency> residencies = chosen.residencies;
  std::stable_sort(residencies.begin(), residencies.end(),
                   [](const Residency& a, const Residency& b) {
                     return std::tie(a.item, a.first) < std::tie(b.item, b.first);
                   });
  for (const Residency& residency : residencies) {
    decisions.moves.push_back({residency.read_at, residency.written_at});
  }
  return decisions;
}

// options: of which in_file and smallest_bytes are asked.
Swapped with_transfers(const ir::Graph& graph, const SwapOptions& options, Transfers transfers) {
  Swapped swapped;
  swapped.peak_bytes = transfers.peak_bytes();
  swapped.times = transfers.times;
  number_slots(transfers.items, options.in_file.value_or(std::set<std::string>()), swapped);
  Building building(graph, transfers.items);
  walk(graph, transfers.items, transfers.residencies, building);
  swapped.graph = building.finish();
  swapped.decisions = decisions_of(graph, transfers);
  swapped.decisions.in_file = swapped.in_file;
  swapped.decisions.smallest_bytes = options.smallest_bytes;
  return swapped;
}

// Applies decisions to items and residencies; returns false if they do not fit.
bool place(const ir::Graph& graph, const SwapDecisions& decisions, Transfers& transfers) {
  const auto within = [](int index, size_t size) {
    return index >= 0 && static_cast<size_t>(index) < size;
  };
  for (const SwapDecisions::Item& decided : decisions.items) {
    if (!within(decided.item, transfers.items.size())) return false;
    SwapItem& item = transfers.items[static_cast<size_t>(decided.item)];
    if (*graph.data(item.values.front()).name != decided.name) return false;
    for (const int gap : decided.gaps) {
      if (!within(gap, item.out.size())) return false;
      item.out[static_cast<size_t>(gap)] = 1;
    }
  }
  transfers.residencies = residencies_of(transfers.items);
  if (transfers.residencies.size() != decisions.moves.size()) return false;
  for (size_t i = 0; i < decisions.moves.size(); ++i) {
    transfers.residencies[i].read_at = decisions.moves[i].read_at;
    transfers.residencies[i].written_at = decisions.moves[i].written_at;
  }
  sort_by_start(transfers.residencies);
  return true;
}

}  // namespace

TransferTimes times_of(const ir::Graph& graph, SwapCosts costs) {
  std::vector<double> node_ms;
  for (auto next = costs.node_ms.begin(); const ir::Node& node : graph.nodes) {
    node_ms.push_back(is_transfer(*node.op) ? 0.0 : *next++);
  }
  costs.node_ms = std::move(node_ms);
  return transfer_times(graph, costs);
}

SwapChooser::SwapChooser(const ir::Graph& graph, SwapOptions options)
    : graph_(graph), options_(std::move(options)), none_(nothing_swapped(graph, options_)) {}

int64_t next_target(int64_t target_bytes) { return target_bytes - target_bytes / 64 - 1; }

SwapChooser::Series::Series(const SwapChooser& chooser, SwapCosts costs)
    : chooser_(chooser), options_(chooser.options_), now_(chooser.none_) {
  options_.costs = std::move(costs);
}

const SwapChooser::Series::Choice& SwapChooser::Series::choice(int64_t target_bytes) {
  const auto [place, is_new] = choices_.try_emplace(target_bytes);
  Choice& choice = place->second;
  if (!is_new) return choice;
  for (SwapItem& item : now_.items) std::fill(item.out.begin(), item.out.end(), 0);
  choice.live = chooser_.none_.live;
  options_.target_bytes = target_bytes;
  choose_swaps(now_.items, choice.live, options_);
  for (const SwapItem& item : now_.items) {
    choice.out.insert(choice.out.end(), item.out.begin(), item.out.end());
  }
  return choice;
}

// Chooses swaps for a target and places their transfers within another one.
void SwapChooser::Series::place(int64_t chosen_for, int64_t target_bytes) {
  const Choice& of = choice(chosen_for);
  auto next = of.out.begin();
  for (SwapItem& item : now_.items) {
    const auto end = next + static_cast<std::ptrdiff_t>(item.out.size());
    std::copy(next, end, item.out.begin());
    next = end;
  }
  now_.live = of.live;
  options_.target_bytes = target_bytes;
  now_.residencies = place_transfers(now_.items, now_.live, options_);
  now_.times = simulated(chooser_.graph_, now_, options_.costs);
}

Transfers SwapChooser::Series::choose(int64_t target_bytes, const SwapCosts& actual) {
  // Targets descend.
  choices_.erase(choices_.upper_bound(target_bytes), choices_.end());
  place(target_bytes, target_bytes);
  Transfers best = now_;
  if (best.times.stall_ms > 0.0 && best.peak_bytes() <= target_bytes) {
    int64_t lower = target_bytes;
    int steps = 0;
    for (const int each : kLowerTargets) {
      for (; steps < each; ++steps) lower = next_target(lower);
      place(lower, target_bytes);
      if (now_.peak_bytes() > target_bytes) break;
      if (now_.times.stall_ms < best.times.stall_ms) best = now_;
    }
  }
  best.times = simulated(chooser_.graph_, best, actual);
  return best;
}

Swapped SwapChooser::apply(Transfers transfers) const {
  return with_transfers(graph_, options_, std::move(transfers));
}

Swapped swap(const ir::Graph& graph, const SwapOptions& options) {
  const SwapChooser chooser(graph, options);
  SwapChooser::Series series(chooser, options.costs);
  return chooser.apply(
      series.choose(options.target_bytes, options.actual ? *options.actual : options.costs));
}

Swapped apply_swap(const ir::Graph& graph, const ArenaOptions& options,
                   const SwapDecisions& decisions, const SwapCosts& costs) {
  const SwapOptions given{
      .arena = options, .in_file = decisions.in_file, .smallest_bytes = decisions.smallest_bytes};
  Transfers transfers = nothing_swapped(graph, given);
  if (!place(graph, decisions, transfers)) {
    throw Error("swap", "the transfers that were decided are those of another step");
  }
  transfers.times = simulated(graph, transfers, costs);
  return with_transfers(graph, given, std::move(transfers));
}

}  // namespace thimble::plan
