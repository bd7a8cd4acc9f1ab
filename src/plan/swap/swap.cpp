#include "plan/swap/swap.h"

#include <thimble/error.h>

#include <algorithm>
#include <tuple>

#include "plan/lifetimes.h"
#include "plan/swap/choice.h"
#include "plan/swap/items.h"
#include "plan/swap/times.h"
#include "plan/transfer_ops.h"

namespace thimble::plan {
namespace {

// Shares of the target for which the choice is tried; see transfers().
constexpr double kPartsOfTarget[] = {0.95, 0.9, 0.8, 0.7};

// Slots of parameters and state come first, sorted by name, so that they are equal in all programs
// over one store.
void number_slots(std::vector<SwapItem>& items, const std::set<std::string>& in_file,
                  Swapped& swapped) {
  swapped.in_file = in_file;
  for (const SwapItem& item : items) {
    if (!item.is_swapped()) continue;
    ++swapped.values;
    if (item.persistent()) swapped.in_file.insert(item.name);
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
        raw_(items.size(), -1),
        ids_(from.values.size(), -1),
        item_of_(from.values.size(), -1),
        newest_(items.size(), -1) {
    for (size_t i = 0; i < items.size(); ++i) {
      if (!items[i].is_swapped()) continue;
      for (const int id : items[i].values) item_of_[static_cast<size_t>(id)] = static_cast<int>(i);
    }
  }

  ir::Graph run() {
    to_.layers = from_.layers;
    for (size_t id = 0; id < from_.values.size(); ++id) {
      if (from_.values[id].producer >= 0) continue;
      ids_[id] = static_cast<int>(to_.values.size());
      to_.values.push_back(from_.values[id]);
    }
    after(-1);
    for (size_t n = 0; n < from_.nodes.size(); ++n) {
      layer_ = from_.nodes[n].layer;
      begin_reads(static_cast<int>(n));
      copy(from_.nodes[n]);
      after(static_cast<int>(n));
    }
    if (from_.loss) to_.loss = new_id(*from_.loss);
    for (const auto& [name, id] : from_.outputs) to_.outputs.emplace_back(name, new_id(id));
    for (const auto& [name, id] : from_.metrics) to_.metrics.emplace_back(name, new_id(id));
    return std::move(to_);
  }

 private:
  [[nodiscard]] int new_id(int id) const { return id < 0 ? -1 : ids_[static_cast<size_t>(id)]; }
  [[nodiscard]] const SwapItem& item_of(const Residency& residency) const {
    return items_[static_cast<size_t>(residency.item)];
  }

  // Adds a transfer node; returns its output, or -1.
  int add(const ir::OpDef& op, const SwapAttrs& attrs, int input, const ir::ValueData* output) {
    ir::Node node;
    node.layer = layer_;
    node.op = &op;
    node.attrs = ir::Attrs::of(attrs);
    if (input >= 0) node.inputs = {input};
    if (output != nullptr) {
      node.outputs = {static_cast<int>(to_.values.size())};
      ir::ValueData data{.name = output->name,
                         .type = {attrs.dtype, attrs.shape},
                         .storage = output->storage,
                         .recomputed = output->recomputed,
                         .fetched = output->fetched};
      // A fetched parameter or state lies in the arena like an activation.
      data.role = ir::is_persistent(output->role) ? ir::Role::activation : output->role;
      data.producer = static_cast<int>(to_.nodes.size());
      to_.values.push_back(std::move(data));
    }
    to_.nodes.push_back(std::move(node));
    return to_.nodes.back().outputs.empty() ? -1 : to_.nodes.back().outputs[0];
  }

  void begin_reads(int step) {
    for (const Residency& residency : residencies_) {
      if (!residency.fetched || residency.read_at != step) continue;
      const SwapItem& item = item_of(residency);
      ir::ValueData data = from_.data(item.values.front());
      data.fetched = true;
      raw_[static_cast<size_t>(residency.item)] = add(swap_read_op(),
                                                      {.slot = item.slot,
                                                       .deadline = residency.read_deadline(),
                                                       .dtype = data.type.dtype,
                                                       .shape = data.type.shape},
                                                      -1, &data);
      // Later readers of these values read the fetched one.
      for (const int id : item.values) ids_[static_cast<size_t>(id)] = -1;
    }
  }

  // The value in the new graph. Waits for it first if it is being fetched.
  int ready(int id) {
    int& now = ids_[static_cast<size_t>(id)];
    if (now >= 0) return now;
    const int item = item_of_[static_cast<size_t>(id)];
    const ir::ValueData& data = from_.data(id);
    now = add(swap_ready_op(),
              {.slot = items_[static_cast<size_t>(item)].slot,
               .dtype = data.type.dtype,
               .shape = data.type.shape},
              raw_[static_cast<size_t>(item)], &data);
    return now;
  }

  void copy(const ir::Node& node) {
    ir::Node copied = node;
    for (int& input : copied.inputs) {
      if (input >= 0) input = ready(input);
    }
    for (int& output : copied.outputs) {
      ir::ValueData data = from_.data(output);
      const int item = item_of_[static_cast<size_t>(output)];
      if (item >= 0 && items_[static_cast<size_t>(item)].persistent()) {
        data.role = ir::Role::activation;
      }
      data.producer = static_cast<int>(to_.nodes.size());
      ids_[static_cast<size_t>(output)] = static_cast<int>(to_.values.size());
      output = static_cast<int>(to_.values.size());
      to_.values.push_back(std::move(data));
    }
    to_.nodes.push_back(std::move(copied));
    for (const int output : node.outputs) {
      const int item = item_of_[static_cast<size_t>(output)];
      if (item >= 0) newest_[static_cast<size_t>(item)] = output;
    }
  }

  // The value that the item's memory holds now.
  [[nodiscard]] int contents(const Residency& residency) const {
    const int newest = newest_[static_cast<size_t>(residency.item)];
    const int id = new_id(newest >= 0 ? newest : item_of(residency).values.front());
    if (id < 0) {
      const std::string name = ir::label(from_.data(item_of(residency).values.front()));
      throw Error("swap", name + " is read back before it is written");
    }
    return id;
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
  ir::Graph to_;
  const std::vector<SwapItem>& items_;
  const std::vector<Residency>& residencies_;
  std::vector<size_t> writes_;  // indices of residencies
  std::vector<int> raw_;        // by item: output of the last read
  std::vector<int> ids_;      // by value: the new value; -1: not there yet, or still being fetched
  std::vector<int> item_of_;  // by value: its swapped item; -1: none
  std::vector<int> newest_;   // by item: the value written last
  int layer_ = -1;            // layer of the current node, which its transfers get
};

// The chosen swaps and their transfers.
struct Transfers {
  std::vector<SwapItem> items;
  Live live;
  std::vector<Residency> residencies;
  TransferTimes times;
  [[nodiscard]] int64_t peak_bytes() const {
    return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  }
};

// Chooses swaps for a share of the target. The rest is left for reading ahead and writing late.
Transfers transfers(const Transfers& none, const SwapOptions& options, double part) {
  Transfers result = none;
  SwapOptions tighter = options;
  tighter.target_bytes = static_cast<int64_t>(part * static_cast<double>(options.target_bytes));
  choose_swaps(result.items, result.live, tighter);
  result.residencies = place_transfers(result.items, result.live, options);
  result.times = transfer_times(result.items, result.residencies, options.costs);
  return result;
}

Transfers nothing_swapped(const ir::Graph& graph, const ArenaOptions& options,
                          int64_t smallest_bytes) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options));
  const Sharing sharing(sequence, options.in_place);
  Transfers none{
      swap_items(graph, sequence, sharing, smallest_bytes), live_bytes(sequence, sharing), {}, {}};
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

Swapped built(const ir::Graph& graph, Transfers chosen, SwapDecisions decisions) {
  Swapped swapped;
  number_slots(chosen.items, decisions.in_file, swapped);
  swapped.peak_bytes = chosen.peak_bytes();
  swapped.transfers = chosen.times.count;
  swapped.read_bytes = chosen.times.read_bytes;
  swapped.written_bytes = chosen.times.written_bytes;
  swapped.transfer_ms = chosen.times.busy_ms;
  swapped.stall_ms = chosen.times.stall_ms;
  swapped.graph = Building(graph, chosen.items, chosen.residencies).run();
  decisions.in_file = swapped.in_file;
  swapped.decisions = std::move(decisions);
  return swapped;
}

}  // namespace

Swapped swap(const ir::Graph& graph, const SwapOptions& options) {
  const Transfers none = nothing_swapped(graph, options.arena, options.smallest_bytes);
  Transfers best = transfers(none, options, 1.0);
  if (best.times.stall_ms > 0.0 && best.peak_bytes() <= options.target_bytes) {
    for (const double part : kPartsOfTarget) {
      Transfers next = transfers(none, options, part);
      if (next.peak_bytes() > options.target_bytes) break;
      if (next.times.stall_ms < best.times.stall_ms) best = std::move(next);
    }
  }
  if (options.actual) best.times = transfer_times(best.items, best.residencies, *options.actual);
  SwapDecisions decisions = decisions_of(graph, best);
  decisions.smallest_bytes = options.smallest_bytes;
  if (options.in_file) decisions.in_file = *options.in_file;
  return built(graph, std::move(best), std::move(decisions));
}

Swapped apply_swap(const ir::Graph& graph, const ArenaOptions& options,
                   const SwapDecisions& decisions, const SwapCosts& costs) {
  Transfers chosen = nothing_swapped(graph, options, decisions.smallest_bytes);
  if (!place(graph, decisions, chosen)) {
    throw Error("swap", "the transfers that were decided are those of another step");
  }
  chosen.times = transfer_times(chosen.items, chosen.residencies, costs);
  return built(graph, std::move(chosen), decisions);
}

}  // namespace thimble::plan
