#include "plan/remat/bit_masks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "plan/renumber.h"

namespace thimble::plan {
namespace {

// A backward node that reads a value, and its rule for reading bits.
struct Reader {
  int node;
  int value;
  ir::MaskRule rule;  // input -1: the node needs the whole value
};

class Finder {
 public:
  explicit Finder(const ir::Graph& graph)
      : graph_(graph), loss_node_(graph.data(*graph.loss).producer) {
    roots_.resize(graph.values.size());
    std::iota(roots_.begin(), roots_.end(), 0);
    readers_.resize(graph.values.size());
    for (int n = 0; n < static_cast<int>(graph.nodes.size()); ++n) visit(n);
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

  [[nodiscard]] size_t root(int id) const {
    return static_cast<size_t>(roots_[static_cast<size_t>(id)]);
  }

  void visit(int n) {
    const ir::Node& node = graph_.nodes[static_cast<size_t>(n)];
    for (const ir::Alias& view : node.op->memory.views) {
      const int output = node.outputs[static_cast<size_t>(view.out)];
      roots_[static_cast<size_t>(output)] = static_cast<int>(root(node.input(view.in)));
    }
    if (n <= loss_node_ || !node.op->memory.views.empty()) return;
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
  std::vector<int> roots_;                    // by value: the value it is a view of, or itself
  std::vector<std::vector<Reader>> readers_;  // by root, in node order
};

// The graph with bit masks for these readers. A mask is computed right after its value.
ir::Graph with_bits(const ir::Graph& graph, const std::vector<Reader>& readers) {
  ir::Graph result = graph;
  std::map<int, std::vector<ir::Node>> inserted;  // by the node after which they are inserted
  std::map<std::tuple<int, std::string, std::string>, int> made;
  for (const Reader& reader : readers) {
    const ir::MaskRule& rule = reader.rule;
    const auto [found, is_new] = made.try_emplace(
        {reader.value, rule.make->name, rule.make_attrs.full_text()}, result.values.size());
    if (is_new) {
      const ir::ValueData& value = graph.data(reader.value);
      const ir::TensorType* type = &value.type;
      ir::ValueData bits;
      bits.name = value.name;
      bits.storage = ir::Storage::bits;
      bits.type = ir::infer_types(*rule.make, rule.make_attrs, {&type, 1})[0];
      result.values.push_back(std::move(bits));
      inserted[value.producer].push_back({rule.make,
                                          rule.make_attrs,
                                          {reader.value},
                                          {found->second},
                                          graph.nodes[static_cast<size_t>(value.producer)].layer});
    }
    ir::Node& node = result.nodes[static_cast<size_t>(reader.node)];
    node.op = rule.read;
    node.attrs = rule.read_attrs;
    node.inputs[static_cast<size_t>(rule.input)] = found->second;
  }
  std::vector<ir::Node> nodes;
  for (int n = 0; n < static_cast<int>(result.nodes.size()); ++n) {
    nodes.push_back(std::move(result.nodes[static_cast<size_t>(n)]));
    if (const auto found = inserted.find(n); found != inserted.end()) {
      nodes.insert(nodes.end(), found->second.begin(), found->second.end());
    }
  }
  result.nodes = std::move(nodes);
  return renumbered(std::move(result));
}

// The peak of the step in this order after cheap recomputation.
int64_t peak_bytes_after_cheap_recomputation(const ir::Graph& graph, const ArenaOptions& options) {
  return live_peak_bytes(recompute_as_ordered(graph, {.arena = options}), options);
}

}  // namespace

std::vector<ir::Graph> keep_bit_masks(std::span<const ir::Graph> orders,
                                      const ArenaOptions& options) {
  std::vector<ir::Graph> whole(orders.begin(), orders.end());
  const ir::Graph& first = orders.front();
  if (!has_backward_part(first) || Finder(first).chosen().empty()) return whole;
  std::vector<ir::Graph> masked;
  for (const ir::Graph& order : orders) masked.push_back(with_bits(order, Finder(order).chosen()));
  const bool is_smaller = peak_bytes_after_cheap_recomputation(masked.front(), options) <
                          peak_bytes_after_cheap_recomputation(whole.front(), options);
  return is_smaller ? masked : whole;
}

}  // namespace thimble::plan
