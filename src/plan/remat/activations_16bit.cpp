#include "plan/remat/activations_16bit.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "plan/lifetimes.h"
#include "plan/remat/recompute.h"
#include "plan/renumber.h"

namespace thimble::plan {
namespace {

// Smaller values are not stored in 16 bits: they save too little for the error.
constexpr int64_t kLeastBytes = 4096;

// A value that could be stored in 16 bits, and the backward nodes that read it.
struct Candidate {
  int value;
  std::vector<int> readers;
};

// The values that may be stored in 16 bits.
std::vector<Candidate> candidates_of(const ir::Graph& graph) {
  const int loss_node = graph.data(*graph.loss).producer;
  std::vector<int> roots(graph.values.size());  // by value: the value it is a view of, or itself
  std::iota(roots.begin(), roots.end(), 0);
  std::vector<Candidate> found(graph.values.size());
  std::vector<int> late_values(graph.values.size(),
                               0);  // by root: its values that the backward part reads
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    const ir::Node& node = graph.nodes[static_cast<size_t>(n)];
    for (const ir::Alias& view : node.op->memory.views) {
      if (n > loss_node) break;  // a backward view reads the loaded value
      roots[static_cast<size_t>(node.outputs[static_cast<size_t>(view.out)])] =
          roots[static_cast<size_t>(node.input(view.in))];
    }
    for (const int id : node.inputs) {
      if (id < 0) continue;
      Candidate& candidate = found[static_cast<size_t>(id)];
      if (n > loss_node && (candidate.readers.empty() || candidate.readers.back() != n)) {
        if (candidate.readers.empty())
          ++late_values[static_cast<size_t>(roots[static_cast<size_t>(id)])];
        candidate.readers.push_back(n);
      }
    }
  }
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) is_result[static_cast<size_t>(id)] = 1;
  std::vector<Candidate> result;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const ir::ValueData& data = graph.values[v];
    const bool waits = data.role == ir::Role::activation || data.role == ir::Role::input;
    if (!waits || data.type.dtype != DType::f32 || data.producer > loss_node) continue;
    if (found[v].readers.empty() || is_result[v] != 0) continue;
    if (late_values[static_cast<size_t>(roots[v])] != 1) continue;
    if (size_bytes(data.type.dtype, data.type.shape) < kLeastBytes) continue;
    found[v].value = static_cast<int>(v);
    result.push_back(std::move(found[v]));
  }
  return result;
}

// The graph with these values stored in 16 bits. New values come after the others.
ir::Graph with_16_bits(const ir::Graph& graph, const std::vector<const Candidate*>& chosen,
                       const ActivationStorage& storage) {
  ir::Graph result = graph;
  std::map<int, std::vector<ir::Node>> behind;  // nodes to insert after each node; -1: at the start
  std::map<int, std::vector<ir::Node>> before;
  const auto add_value = [&](const ir::Name& name, const ir::TensorType& type, ir::Storage form) {
    ir::ValueData data;
    data.name = name;
    data.type = type;
    data.storage = form;
    result.values.push_back(std::move(data));
    return static_cast<int>(result.values.size()) - 1;
  };
  for (const Candidate* candidate : chosen) {
    const ir::ValueData& value = graph.data(candidate->value);
    const int layer =
        value.producer < 0 ? -1 : graph.nodes[static_cast<size_t>(value.producer)].layer;
    const ir::TensorType* type = &value.type;
    const int half = add_value(
        value.name, storage.store->infer({*storage.store, storage.store_attrs, {&type, 1}})[0],
        ir::Storage::bits16);
    behind[value.producer].push_back(
        {storage.store, storage.store_attrs, {candidate->value}, {half}, layer});
    for (const int reader : candidate->readers) {
      const int loaded = add_value(value.name, value.type, ir::Storage::from_bits16);
      before[reader].push_back({storage.load, {}, {half}, {loaded}, layer});
      std::vector<int>& inputs = result.nodes[static_cast<size_t>(reader)].inputs;
      std::replace(inputs.begin(), inputs.end(), candidate->value, loaded);
    }
  }
  std::vector<ir::Node> nodes = std::move(behind[-1]);
  for (int n = 0; n < static_cast<int>(result.nodes.size()); ++n) {
    for (ir::Node& node : before[n]) nodes.push_back(std::move(node));
    nodes.push_back(std::move(result.nodes[static_cast<size_t>(n)]));
    for (ir::Node& node : behind[n]) nodes.push_back(std::move(node));
  }
  result.nodes = std::move(nodes);
  return result;
}

struct Peak {
  int64_t bytes = 0;
  std::vector<char> waits;  // by value: alive but not read or written
};

Peak peak_of(const ir::Graph& graph, const ArenaOptions& options) {
  const Sequence sequence = sequence_of(graph, workspaces(graph, options));
  const Sharing sharing(sequence, options.in_place);
  const std::vector<int64_t> live = live_bytes(sequence, sharing);
  const auto at = std::max_element(live.begin(), live.end());
  Peak peak{*at, std::vector<char>(graph.values.size(), 0)};
  const int moment = static_cast<int>(at - live.begin());
  for (int id = 0; id < sequence.values(); ++id) {
    if (sequence.bytes(id) == kPersistent) continue;
    const Lifetime life = sharing.life(sharing.leader_of(id));
    peak.waits[static_cast<size_t>(id)] = life.birth <= moment && moment < life.death ? 1 : 0;
  }
  const ir::Node& node = graph.nodes[static_cast<size_t>(moment)];
  for (const int id : node.inputs) {
    if (id >= 0) peak.waits[static_cast<size_t>(id)] = 0;
  }
  for (const int id : node.outputs) peak.waits[static_cast<size_t>(id)] = 0;
  return peak;
}

}  // namespace

ir::Graph store_in_16_bits(const ir::Graph& graph, const ActivationStorage& storage,
                           const ArenaOptions& options) {
  ir::Graph best = graph;
  if (storage.store == nullptr || !graph.loss || graph.data(*graph.loss).producer < 0) return best;
  const std::vector<Candidate> candidates = candidates_of(graph);
  std::vector<const Candidate*> chosen;
  std::vector<char> taken(candidates.size(), 0);
  for (Peak peak = peak_of(graph, options);;) {
    bool more = false;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto value = static_cast<size_t>(candidates[i].value);
      if (taken[i] != 0 || peak.waits[value] == 0) continue;
      taken[i] = 1;
      more = true;
      chosen.push_back(&candidates[i]);
    }
    if (!more) break;
    ir::Graph next = with_16_bits(graph, chosen, storage);
    Peak after = peak_of(next, options);
    if (after.bytes >= peak.bytes) break;
    best = std::move(next);
    peak = std::move(after);
  }
  return renumbered(std::move(best));
}

std::vector<std::string> stored_as(const ir::Graph& graph, ir::Storage storage) {
  std::vector<std::string> names;
  for (const ir::ValueData& data : graph.values) {
    if (data.producer < 0 || data.storage != storage || data.recomputed || data.fetched) continue;
    names.emplace_back(data.name);
  }
  return names;
}

}  // namespace thimble::plan
