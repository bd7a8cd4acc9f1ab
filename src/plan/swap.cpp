#include "plan/swap.h"

#include <algorithm>

#include "plan/lifetimes.h"
#include "plan/swap_choice.h"
#include "plan/swap_items.h"
#include "plan/swap_ops.h"

namespace thimble::plan {
namespace {

// Slots of parameters and state come first, by name: equal in all programs over one store.
void number_slots(std::vector<SwapItem>& items, const SwapOptions& options, Swapped& swapped) {
  if (options.in_file) swapped.in_file = *options.in_file;
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
  // The largest first: what a smaller batch swaps fits into the same slots.
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const SwapItem* a, const SwapItem* b) { return a->bytes > b->bytes; });
  for (SwapItem* const item : buffers) {
    item->slot = static_cast<int>(swapped.slot_bytes.size());
    swapped.slot_bytes.push_back(item->bytes);
  }
}

// Copies a graph and puts the transfers between its nodes.
class Building {
 public:
  Building(const ir::Graph& from, const std::vector<SwapItem>& items,
           const std::vector<Stay>& stays)
      : from_(from),
        items_(items),
        stays_(stays),
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
  [[nodiscard]] const SwapItem& item_of(const Stay& stay) const {
    return items_[static_cast<size_t>(stay.item)];
  }

  // Adds a node of a transfer; returns its output, or -1.
  int add(const ir::OpDef& op, const SwapAttrs& attrs, int input, const ir::ValueData* output) {
    ir::Node node;
    node.layer = layer_;
    node.op = &op;
    node.attrs = ir::Attrs::of(attrs);
    if (input >= 0) node.inputs = {input};
    if (output != nullptr) {
      node.outputs = {static_cast<int>(to_.values.size())};
      ir::ValueData data;
      data.name = output->name;
      data.type = {attrs.dtype, attrs.shape};
      // Its place is in the arena, whatever it is.
      data.role = ir::is_persistent(output->role) ? ir::Role::activation : output->role;
      data.producer = static_cast<int>(to_.nodes.size());
      to_.values.push_back(std::move(data));
    }
    to_.nodes.push_back(std::move(node));
    return to_.nodes.back().outputs.empty() ? -1 : to_.nodes.back().outputs[0];
  }

  void begin_reads(int step) {
    for (const Stay& stay : stays_) {
      if (!stay.fetched || stay.read_at != step) continue;
      const SwapItem& item = item_of(stay);
      ir::ValueData data = from_.data(item.values.front());
      data.name += kFetched;
      raw_[static_cast<size_t>(stay.item)] =
          add(swap_read_op(), {item.slot, data.type.dtype, data.type.shape}, -1, &data);
      // Whoever reads any of these values from now on reads what was fetched.
      for (const int id : item.values) ids_[static_cast<size_t>(id)] = -1;
    }
  }

  // The value in the new graph, waited for where it was fetched.
  int ready(int id) {
    int& now = ids_[static_cast<size_t>(id)];
    if (now >= 0) return now;
    const int item = item_of_[static_cast<size_t>(id)];
    const ir::ValueData& data = from_.data(id);
    now = add(swap_ready_op(),
              {items_[static_cast<size_t>(item)].slot, data.type.dtype, data.type.shape},
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

  // What stands in the memory of an item now.
  [[nodiscard]] int contents(const Stay& stay) const {
    const int newest = newest_[static_cast<size_t>(stay.item)];
    return new_id(newest >= 0 ? newest : item_of(stay).values.front());
  }

  void after(int step) {
    for (const Stay& stay : stays_) {
      if (stay.stored && stay.last == step) {
        static_cast<void>(
            add(swap_write_op(), {item_of(stay).slot, DType::f32, {}}, contents(stay), nullptr));
      }
    }
    for (const Stay& stay : stays_) {
      if (stay.stored && stay.written_at == step) {
        static_cast<void>(
            add(swap_written_op(), {item_of(stay).slot, DType::f32, {}}, contents(stay), nullptr));
      }
    }
  }

  const ir::Graph& from_;
  ir::Graph to_;
  const std::vector<SwapItem>& items_;
  const std::vector<Stay>& stays_;
  std::vector<int> raw_;      // by item: what the last read gives
  std::vector<int> ids_;      // by value: the new one; -1: not there yet, or to be waited for
  std::vector<int> item_of_;  // by value: the swapped item it belongs to
  std::vector<int> newest_;   // by item: the value written last
  int layer_ = -1;            // of the node that transfers stand beside
};

}  // namespace

Swapped swap(const ir::Graph& graph, const SwapOptions& options) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options.arena));
  const Sharing sharing(sequence, options.arena.in_place);
  std::vector<SwapItem> items = swap_items(graph, sequence, sharing, options.smallest_bytes);
  Live live = live_bytes(sequence, sharing);
  const int64_t resident = resident_bytes(graph, {});
  for (int64_t& bytes : live) bytes += resident;
  Swapped swapped;
  choose_swaps(items, live, options);
  number_slots(items, options, swapped);
  const std::vector<Stay> stays = place_transfers(items, live, options);
  const TransferTimes times = transfer_times(items, stays, options.costs);
  swapped.peak_bytes = live.empty() ? 0 : *std::max_element(live.begin(), live.end());
  swapped.transfers = times.count;
  swapped.read_bytes = times.read_bytes;
  swapped.written_bytes = times.written_bytes;
  swapped.transfer_ms = times.busy_ms;
  swapped.stall_ms = times.stall_ms;
  swapped.graph = Building(graph, items, stays).run();
  return swapped;
}

}  // namespace thimble::plan
