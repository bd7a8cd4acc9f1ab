#include "plan/remat/storage.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "ir/rewrite.h"
#include "plan/lifetimes.h"
#include "plan/nth.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"

namespace thimble::plan {
namespace {

// Smaller values are not stored in 16 bits: they save too little for the error.
constexpr int64_t kLeastBytes = 4096;

// By value: the value that it is a view of, or itself. Views after this node count as values.
std::vector<int> view_roots(const ir::Graph& graph, size_t last_node) {
  std::vector<int> roots(graph.values.size());
  std::iota(roots.begin(), roots.end(), 0);
  for (size_t n = 0; n < std::min(last_node + 1, graph.nodes.size()); ++n) {
    const ir::Node& node = graph.nodes[n];
    for (const ir::Alias& view : node.op->memory.views) {
      nth(roots, nth(node.outputs, view.out)) = nth(roots, node.input(view.in));
    }
  }
  return roots;
}

// A value that could be stored in 16 bits, and the backward nodes that read it.
struct LateValue {
  int value;
  std::vector<int> readers;
};

// The values that may be stored in 16 bits.
std::vector<LateValue> candidates_of(const ir::Graph& graph) {
  const int loss_node = graph.data(*graph.loss).producer;
  // A backward view reads the loaded value.
  const std::vector<int> roots = view_roots(graph, static_cast<size_t>(loss_node));
  std::vector<LateValue> found(graph.values.size());
  // By root: the number of its values that the backward part reads.
  std::vector<int> late_values(graph.values.size(), 0);
  for (int n = loss_node + 1; n < static_cast<int>(graph.nodes.size()); ++n) {
    for (const int id : nth(graph.nodes, n).inputs) {
      if (id < 0) continue;
      std::vector<int>& readers = nth(found, id).readers;
      if (readers.empty()) ++nth(late_values, nth(roots, id));
      if (readers.empty() || readers.back() != n) readers.push_back(n);
    }
  }
  std::vector<char> is_result(graph.values.size(), 0);
  for (const int id : graph.results()) nth(is_result, id) = 1;
  std::vector<LateValue> result;
  for (size_t v = 0; v < graph.values.size(); ++v) {
    const ir::ValueData& data = graph.values[v];
    const bool waits = data.role == ir::Role::activation || data.role == ir::Role::input;
    if (!waits || data.type.dtype != DType::f32 || data.producer > loss_node) continue;
    if (found[v].readers.empty() || is_result[v] != 0) continue;
    if (nth(late_values, roots[v]) != 1) continue;
    if (size_bytes(data.type.dtype, data.type.shape) < kLeastBytes) continue;
    found[v].value = static_cast<int>(v);
    result.push_back(std::move(found[v]));
  }
  return result;
}

// A backward node that reads a value, and its rule for reading bits.
struct Reader {
  int node;
  int value;
  ir::MaskRule rule;  // input -1: the node needs the whole value
};

class Finder {
 public:
  explicit Finder(const ir::Graph& graph)
      : graph_(graph),
        loss_node_(graph.data(*graph.loss).producer),
        roots_(view_roots(graph, graph.nodes.size())),
        readers_(graph.values.size()) {
    for (int n = loss_node_ + 1; n < static_cast<int>(graph.nodes.size()); ++n) visit(n);
    for (const int id : graph.results()) readers_[root(id)].clear();
  }

  // The readers that read bits of values whose last reader does. Others may read them whole before.
  [[nodiscard]] std::vector<Reader> chosen() const {
    std::vector<Reader> found;
    for (const std::vector<Reader>& readers : readers_) {
      if (readers.empty() || !by_bits(readers.back())) continue;
      std::copy_if(readers.begin(), readers.end(), std::back_inserter(found), by_bits);
    }
    return found;
  }

 private:
  static bool by_bits(const Reader& reader) { return reader.rule.input >= 0; }

  [[nodiscard]] size_t root(int id) const { return static_cast<size_t>(nth(roots_, id)); }

  void visit(int n) {
    const ir::Node& node = nth(graph_.nodes, n);
    if (!node.op->memory.views.empty()) return;
    const ir::MaskRule rule =
        node.op->memory.mask == nullptr ? ir::MaskRule{} : node.op->memory.mask(node.attrs);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i];
      if (id < 0 || ir::is_persistent(graph_.data(id).role)) continue;
      const int producer = graph_.data(static_cast<int>(root(id))).producer;
      if (producer < 0 || producer > loss_node_) continue;
      const bool by_bits = static_cast<int>(i) == rule.input &&
                           std::count(node.inputs.begin(), node.inputs.end(), id) == 1;
      readers_[root(id)].push_back({n, id, by_bits ? rule : ir::MaskRule{}});
    }
  }

  const ir::Graph& graph_;
  int loss_node_;
  std::vector<int> roots_;
  std::vector<std::vector<Reader>> readers_;  // by root, in node order
};

// A graph to which values and nodes are added. New values come after the others.
class Extended {
 public:
  explicit Extended(const ir::Graph& graph) : graph_(graph) {}

  [[nodiscard]] ir::Node& node(int n) { return nth(graph_.nodes, n); }
  [[nodiscard]] int layer_of(int id) {
    const int producer = graph_.data(id).producer;
    return producer < 0 ? -1 : node(producer).layer;
  }
  // Adds a value of the same name.
  int add_value(int like, const ir::TensorType& type, ir::Storage storage) {
    graph_.values.push_back({.name = graph_.data(like).name, .type = type, .storage = storage});
    return static_cast<int>(graph_.values.size()) - 1;
  }
  // Adds the op's form of a value, computed right behind it.
  int add_form(int id, const ir::OpDef& op, const ir::Attrs& attrs, ir::Storage storage) {
    const ir::TensorType* const type = &graph_.data(id).type;
    const int form = add_value(id, ir::infer_types(op, attrs, {&type, 1})[0], storage);
    behind_[graph_.data(id).producer].push_back({&op, attrs, {id}, {form}, layer_of(id)});
    return form;
  }
  void add_before(int n, ir::Node added) { before_[n].push_back(std::move(added)); }

  [[nodiscard]] ir::Graph finish() && {
    std::vector<ir::Node> nodes = std::move(behind_[-1]);
    for (int n = 0; n < static_cast<int>(graph_.nodes.size()); ++n) {
      for (ir::Node& added : before_[n]) nodes.push_back(std::move(added));
      nodes.push_back(std::move(node(n)));
      for (ir::Node& added : behind_[n]) nodes.push_back(std::move(added));
    }
    graph_.nodes = std::move(nodes);
    return std::move(graph_);
  }

 private:
  ir::Graph graph_;
  std::map<int, std::vector<ir::Node>> before_;  // by node
  std::map<int, std::vector<ir::Node>> behind_;  // likewise; -1: at the start
};

// The graph with correct producers, and values numbered in the order of their nodes, as planners
// expect.
ir::Graph renumbered(ir::Graph graph) {
  for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) {
    for (const int id : nth(graph.nodes, n).outputs) {
      nth(graph.values, id).producer = n;
    }
  }
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) rewriter.copy(node);
  return std::move(rewriter).finish();
}

// The graph with these values stored in 16 bits. Values keep their numbers.
ir::Graph with_16_bits(const ir::Graph& graph, const std::vector<const LateValue*>& chosen,
                       const ActivationStorage& storage) {
  Extended result(graph);
  for (const LateValue* late : chosen) {
    const int id = late->value;
    const int stored =
        result.add_form(id, *storage.store, storage.store_attrs, ir::Storage::bits16);
    for (const int reader : late->readers) {
      const int loaded = result.add_value(id, graph.type(id), ir::Storage::from_bits16);
      result.add_before(reader, {storage.load, {}, {stored}, {loaded}, result.layer_of(id)});
      std::vector<int>& inputs = result.node(reader).inputs;
      std::replace(inputs.begin(), inputs.end(), id, loaded);
    }
  }
  return std::move(result).finish();
}

// The graph with bit masks for these readers. A mask is computed right after its value.
ir::Graph with_bits(const ir::Graph& graph, const std::vector<Reader>& readers) {
  Extended result(graph);
  std::map<std::tuple<int, std::string, std::string>, int> made;
  for (const Reader& reader : readers) {
    const ir::MaskRule& rule = reader.rule;
    const auto [found, is_new] =
        made.try_emplace({reader.value, rule.make->name, rule.make_attrs.full_text()}, -1);
    if (is_new) {
      found->second = result.add_form(reader.value, *rule.make, rule.make_attrs, ir::Storage::bits);
    }
    ir::Node& node = result.node(reader.node);
    node.op = rule.read;
    node.attrs = rule.read_attrs;
    nth(node.inputs, rule.input) = found->second;
  }
  return renumbered(std::move(result).finish());
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
    nth(peak.waits, id) = life.birth <= moment && moment < life.death ? 1 : 0;
  }
  const ir::Node& node = nth(graph.nodes, moment);
  for (const int id : node.inputs) {
    if (id >= 0) nth(peak.waits, id) = 0;
  }
  for (const int id : node.outputs) nth(peak.waits, id) = 0;
  return peak;
}

}  // namespace

ir::Graph store_in_16_bits(const ir::Graph& graph, const ActivationStorage& storage,
                           const ArenaOptions& options) {
  ir::Graph best = graph;
  if (storage.store == nullptr || !has_backward_part(graph)) return best;
  const std::vector<LateValue> candidates = candidates_of(graph);
  std::vector<const LateValue*> chosen;
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

std::vector<ir::Graph> keep_bit_masks(std::span<const ir::Graph> orders,
                                      const ArenaOptions& options) {
  std::vector<ir::Graph> whole(orders.begin(), orders.end());
  const ir::Graph& first = orders.front();
  if (!has_backward_part(first) || Finder(first).chosen().empty()) return whole;
  std::vector<ir::Graph> masked;
  for (const ir::Graph& order : orders) masked.push_back(with_bits(order, Finder(order).chosen()));
  const auto peak_bytes = [&options](const ir::Graph& graph) {
    return live_peak_bytes(recompute_as_ordered(graph, {.arena = options}), options);
  };
  return peak_bytes(masked.front()) < peak_bytes(whole.front()) ? masked : whole;
}

}  // namespace thimble::plan
