#include "plan/swap/swap.h"

#include <thimble/error.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "ir/rewrite.h"
#include "plan/lifetimes.h"
#include "plan/swap/choice.h"
#include "plan/swap/items.h"
#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// Shares of the target for which the choice is tried.
constexpr double kSharesOfTarget[] = {0.95, 0.9, 0.8, 0.7};

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

// Copies a graph and inserts the transfers between its nodes.
class Building {
 public:
  Building(const ir::Graph& from, const std::vector<SwapItem>& items,
           const std::vector<Residency>& residencies)
      : from_(from),
        items_(items),
        residencies_(residencies),
        writes_(writes_of(residencies)),
        to_(from),
        item_of_(from.values.size(), -1),
        raw_(from.values.size(), -1),
        newest_(items.size(), -1) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_swapped()) continue;
      newest_[i] = items[i].values.front();
      for (const int id : items[i].values) item_of_[static_cast<size_t>(id)] = static_cast<int>(i);
    }
  }

  ir::Graph run() {
    after(-1);
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      layer_ = from_.nodes[n].layer;
      begin_reads(static_cast<int>(n));
      copy(from_.nodes[n]);
      after(static_cast<int>(n));
    }
    return std::move(to_).finish();
  }

 private:
  [[nodiscard]] const SwapItem& item_of(const Residency& residency) const {
    return items_[static_cast<size_t>(residency.item)];
  }

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

  void begin_reads(int step) {
    for (const Residency& residency : residencies_) {
      if (!residency.fetched || residency.read_at != step) continue;
      const SwapItem& item = item_of(residency);
      ir::ValueData data = from_.data(item.values.front());
      data.fetched = true;
      const int raw = add(swap_read_op(),
                          {.slot = item.slot, .deadline = residency.read_deadline()}, -1, &data);
      for (const int id : item.values) raw_[static_cast<size_t>(id)] = raw;
    }
  }

  // Waits for a value if it is being fetched.
  void wait_for(int id) {
    const int raw = std::exchange(raw_[static_cast<size_t>(id)], -1);
    if (raw < 0) return;
    const int slot = items_[static_cast<size_t>(item_of_[static_cast<size_t>(id)])].slot;
    const int ready = add(swap_ready_op(), {.slot = slot}, raw, &from_.data(id));
    const Value fetched = to_.graph().value(ready);
    to_.replace({.outputs = {id}}, {&fetched, 1});
  }

  void copy(const ir::Node& node) {
    for (const int input : node.inputs) {
      if (input >= 0) wait_for(input);
    }
    to_.copy(node);
    for (const int output : node.outputs) {
      raw_[static_cast<size_t>(output)] = -1;
      const int item = item_of_[static_cast<size_t>(output)];
      if (item < 0) continue;
      newest_[static_cast<size_t>(item)] = output;
      if (!items_[static_cast<size_t>(item)].persistent()) continue;
      to_.graph().values[static_cast<size_t>(to_.new_id(output))].role = ir::Role::activation;
    }
  }

  // The value that the item's memory holds now.
  [[nodiscard]] int contents(const Residency& residency) const {
    return to_.new_id(newest_[static_cast<size_t>(residency.item)]);
  }

  void after(int step) {
    for (const size_t i : writes_) {
      const Residency& residency = residencies_[i];
      if (residency.last != step) continue;
      static_cast<void>(
          add(swap_write_op(),
              {.slot = item_of(residency).slot, .deadline = residency.write_deadline()},
              contents(residency), nullptr));
    }
    for (const size_t i : writes_) {
      const Residency& residency = residencies_[i];
      if (residency.written_at != step) continue;
      static_cast<void>(
          add(swap_written_op(), {.slot = item_of(residency).slot}, contents(residency), nullptr));
    }
  }

  const ir::Graph& from_;
  const std::vector<SwapItem>& items_;
  const std::vector<Residency>& residencies_;
  std::vector<size_t> writes_;  // indices of residencies
  ir::Rewriter to_;
  std::vector<int> item_of_;  // by value: its swapped item; -1: none
  std::vector<int> raw_;      // by value: output of the read that is fetching it; -1: none
  std::vector<int> newest_;   // by item: the value written last
  int layer_ = -1;            // layer of the current node, which its transfers get
};

// The chosen swaps and when they are moved.
struct Transfers {
  std::vector<SwapItem> items;
  Live live;
  std::vector<Residency> residencies;
};

Transfers nothing_swapped(const ir::Graph& graph, const ArenaOptions& options,
                          int64_t smallest_bytes) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options));
  const Sharing sharing(sequence, options.in_place);
  Transfers none{
      swap_items(graph, sequence, sharing, smallest_bytes), live_bytes(sequence, sharing), {}};
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

Swapped built(const ir::Graph& graph, Transfers chosen, const std::set<std::string>& in_file,
              const SwapCosts& costs) {
  Swapped swapped;
  swapped.peak_bytes = largest(chosen.live);
  number_slots(chosen.items, in_file, swapped);
  swapped.graph = Building(graph, chosen.items, chosen.residencies).run();
  swapped.times = times_of(swapped.graph, costs);
  swapped.decisions = decisions_of(graph, chosen);
  swapped.decisions.in_file = swapped.in_file;
  return swapped;
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

Swapped swap(const ir::Graph& graph, const SwapOptions& options) {
  const Transfers none = nothing_swapped(graph, options.arena, options.smallest_bytes);
  // Chooses swaps for a share of the target. The rest is left for reading ahead and writing late.
  const auto chosen_for = [&](double share) {
    Transfers chosen = none;
    SwapOptions tighter = options;
    tighter.target_bytes = static_cast<int64_t>(share * static_cast<double>(options.target_bytes));
    choose_swaps(chosen.items, chosen.live, tighter);
    chosen.residencies = place_transfers(chosen.items, chosen.live, options);
    return chosen;
  };
  const std::set<std::string> in_file = options.in_file.value_or(std::set<std::string>());
  Swapped best = built(graph, chosen_for(1.0), in_file, options.costs);
  if (best.times.stall_ms > 0.0 && best.peak_bytes <= options.target_bytes) {
    for (const double share : kSharesOfTarget) {
      Transfers chosen = chosen_for(share);
      if (largest(chosen.live) > options.target_bytes) break;
      Swapped next = built(graph, std::move(chosen), in_file, options.costs);
      if (next.times.stall_ms < best.times.stall_ms) best = std::move(next);
    }
  }
  if (options.actual) best.times = times_of(best.graph, *options.actual);
  best.decisions.smallest_bytes = options.smallest_bytes;
  return best;
}

Swapped apply_swap(const ir::Graph& graph, const ArenaOptions& options,
                   const SwapDecisions& decisions, const SwapCosts& costs) {
  Transfers chosen = nothing_swapped(graph, options, decisions.smallest_bytes);
  if (!place(graph, decisions, chosen)) {
    throw Error("swap", "the transfers that were decided are those of another step");
  }
  Swapped swapped = built(graph, std::move(chosen), decisions.in_file, costs);
  swapped.decisions.smallest_bytes = decisions.smallest_bytes;
  return swapped;
}

}  // namespace thimble::plan
