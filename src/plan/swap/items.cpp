#include "plan/swap/items.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "ir/mapped.h"
#include "plan/arena.h"

namespace thimble::plan {
namespace {

// The parameter or state whose storage a value is, or -1.
std::vector<int> storages(const ir::Graph& graph) {
  std::vector<int> of(graph.values.size(), -1);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    const bool is_stored = ir::is_persistent(data.role) && data.role != ir::Role::constant;
    if (ir::is_mapped(data.role, data.type)) continue;
    if (data.producer < 0 && is_stored) of[id] = static_cast<int>(id);
  }
  for (const ir::Node& node : graph.nodes) {
    for (const ir::Alias& update : node.op->memory.updates) {
      const int input = node.input(update.in);
      if (input < 0) continue;
      of[static_cast<size_t>(node.outputs[static_cast<size_t>(update.out)])] =
          of[static_cast<size_t>(input)];
    }
  }
  return of;
}

// Whether the output is a view of an input.
bool is_view(const ir::Node& node, size_t output) {
  return std::any_of(
      node.op->memory.views.begin(), node.op->memory.views.end(),
      [&](const ir::Alias& view) { return static_cast<size_t>(view.out) == output; });
}

void add_access(SwapItem& item, int step, bool writes) {
  if (item.accesses.empty() || item.accesses.back().step != step) {
    item.accesses.push_back({step, writes});
  } else if (writes) {
    item.accesses.back().writes = true;
  }
}

}  // namespace

bool SwapItem::is_swapped() const {
  return std::any_of(out.begin(), out.end(), [](char is_out) { return is_out != 0; });
}

std::vector<Residency> residencies_of(const SwapItem& item, int number) {
  std::vector<Residency> residencies;
  bool in_file = item.persistent();
  bool changed = false;
  for (size_t i = 0; i < item.accesses.size(); ++i) {
    const Access& access = item.accesses[i];
    if (residencies.empty() || item.out[i] != 0) {
      residencies.push_back({number, access.step, access.step, item.out[i] != 0, false});
      changed = !in_file;
    }
    changed = changed || access.writes;
    residencies.back().last = access.step;
    if (item.out[i + 1] == 0) continue;
    residencies.back().stored = changed;
    in_file = true;
    changed = false;
  }
  for (Residency& residency : residencies) {
    residency.read_at = residency.first;
    residency.written_at = residency.last;
  }
  return residencies;
}

std::vector<Residency> residencies_of(const std::vector<SwapItem>& items) {
  std::vector<Residency> all;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_swapped()) continue;
    const std::vector<Residency> own = residencies_of(items[i], static_cast<int>(i));
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

void sort_by_start(std::vector<Residency>& residencies) {
  std::stable_sort(residencies.begin(), residencies.end(),
                   [](const Residency& a, const Residency& b) {
                     return std::tie(a.read_at, a.first) < std::tie(b.read_at, b.first);
                   });
}

std::vector<size_t> writes_of(const std::vector<Residency>& residencies) {
  std::vector<size_t> writes;
  for (size_t i = 0; i < residencies.size(); ++i) {
    if (residencies[i].stored) writes.push_back(i);
  }
  std::stable_sort(writes.begin(), writes.end(), [&residencies](size_t a, size_t b) {
    return residencies[a].written_at < residencies[b].written_at;
  });
  return writes;
}

std::vector<SwapItem> swap_items(const ir::Graph& graph, const Sequence& sequence,
                                 const Sharing& sharing, int64_t smallest_bytes) {
  const std::vector<int> storage = storages(graph);
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) {
    const int stored = storage[static_cast<size_t>(id)];
    is_result[static_cast<size_t>(stored >= 0 ? stored : sharing.leader_of(id))] = 1;
  }
  std::vector<SwapItem> items;
  std::vector<int> item_of(graph.values.size(), -1);
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const int id = static_cast<int>(v);
    const ir::ValueData& data = graph.values[v];
    const int leader = storage[v] >= 0 ? storage[v] : sharing.leader_of(id);
    if (leader == id) {
      const int64_t bytes = size_bytes(data.type.dtype, data.type.shape);
      // What is read back has no quantization (SwapAttrs), and ops of int8 need theirs.
      const bool may = is_result[v] == 0 && data.type.quantization == nullptr &&
                       (storage[v] >= 0 || sharing.has_buffer(id));
      if (!may || bytes < smallest_bytes) continue;
      SwapItem item;
      if (storage[v] >= 0) item.name = data.name;
      item.bytes = storage[v] >= 0 ? aligned(bytes) : bytes;
      // The trainer writes a source before the first node.
      if (data.producer < 0 && storage[v] < 0) add_access(item, -1, true);
      item_of[v] = static_cast<int>(items.size());
      items.push_back(std::move(item));
    }
    item_of[v] = item_of[static_cast<size_t>(leader)];
    if (item_of[v] >= 0) items[static_cast<size_t>(item_of[v])].values.push_back(id);
  }
  for (int n = 0; n < sequence.size(); ++n) {
    const ir::Node& node = graph.nodes[static_cast<size_t>(n)];
    const auto visit = [&](int id, bool writes) {
      const int item = id < 0 ? -1 : item_of[static_cast<size_t>(id)];
      if (item >= 0) add_access(items[static_cast<size_t>(item)], n, writes);
    };
    for (const int id : node.inputs) visit(id, false);
    for (size_t o = 0; o < node.outputs.size(); ++o) visit(node.outputs[o], !is_view(node, o));
  }
  for (SwapItem& item : items) item.out.assign(item.accesses.size() + 1, 0);
  return items;
}

}  // namespace thimble::plan
