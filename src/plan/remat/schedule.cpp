#include "plan/remat/schedule.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "ir/rewrite.h"
#include "plan/nth.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Total share of a step's operations that small products and convolutions may take to count as
// cheap to recompute.
constexpr double kLittle = 0.002;

// Operations per byte of the result up to which recomputation is affordable: a core of 2e11
// operations per second then makes a gigabyte per second, about as much as storage would read.
constexpr double kFewPerByte = 200.0;

// Most entries of a schedule. If every node of a chain has two readers and is recomputed for each,
// entries double with every link.
constexpr size_t kEntriesPerNode = 8;
constexpr size_t kEntriesOfSmallSteps = 1024;

// Forward products and convolutions that take no longer than moving their data, such as a
// convolution of one channel: those with the largest outputs, up to kLittle in total.
std::set<const ir::Node*> little_products(const ir::Graph& graph, int loss_node) {
  struct Product {
    int64_t saved;
    double flops;
    const ir::Node* node;
  };
  std::vector<Product> products;
  double left = 0.0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const double flops = flops_of(graph, node);
    left += kLittle * flops;
    const double moving = kOperationsPerByte * static_cast<double>(bytes_of(graph, node));
    if (static_cast<int>(n) >= loss_node || flops == 0.0 || flops > moving) continue;
    const ir::TensorType& type = graph.type(node.outputs[0]);
    products.push_back({size_bytes(type.dtype, type.shape), flops, &node});
  }
  std::stable_sort(products.begin(), products.end(),
                   [](const Product& a, const Product& b) { return a.saved > b.saved; });
  std::set<const ir::Node*> chosen;
  for (const Product& product : products) {
    if (product.flops > left) continue;
    left -= product.flops;
    chosen.insert(product.node);
  }
  return chosen;
}

// The node that recomputes a node's first output; it may be the node itself.
ir::Node rule_node(const ir::Node& node) {
  ir::Node second = node;
  if (node.op->memory.rebuild == nullptr) return second;
  const ir::RebuildRule rule = node.op->memory.rebuild(node.attrs);
  second.op = rule.op;
  second.attrs = rule.attrs;
  second.outputs = {node.outputs[0]};
  second.inputs.clear();
  for (const int source : rule.inputs) {
    second.inputs.push_back(source >= 0 ? node.input(source) : nth(node.outputs, ~source));
  }
  return second;
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(const ir::Graph& graph, const ArenaOptions& options)
    : graph_(graph),
      options_(options),
      loss_node_(graph.data(*graph.loss).producer),
      most_entries_(kEntriesPerNode * graph.nodes.size() + kEntriesOfSmallSteps),
      bytes_(value_bytes(graph)),
      results_(graph.results()) {
  is_result_.assign(graph.values.size(), 0);
  for (const int id : results_) nth(is_result_, id) = 1;
  const std::set<const ir::Node*> little = little_products(graph, loss_node_);
  for (const ir::Node& node : graph.nodes) {
    first_.add(*node.op, node.inputs, node.outputs, workspace_bytes(graph, node, options));
    RecomputeRule rule;
    int64_t workspace = 0;
    const bool made_for_good = std::any_of(node.outputs.begin(), node.outputs.end(),
                                           [&](int id) { return nth(is_result_, id) != 0; });
    if (static_cast<int>(rules_.size()) < loss_node_ && node.op->memory.updates.empty() &&
        !made_for_good) {
      const ir::Node second = rule_node(node);
      rule = {second.op,
              second.attrs,
              second.inputs,
              second.outputs,
              work_of(graph, second),
              second.op->kernels.flops == nullptr || little.count(&node) > 0,
              is_view(graph, second)};
      workspace = workspace_bytes(graph, second, options);
      rule.affordable =
          flops_of(graph, second) <= kFewPerByte * static_cast<double>(made_bytes(graph, second));
    }
    recomputed_.add(rule.op == nullptr ? *node.op : *rule.op, rule.inputs, rule.outputs, workspace);
    rules_.push_back(std::move(rule));
  }
  for (const ir::ValueData& data : graph.values) {
    values_.push_back({data.producer <= loss_node_ ? data.producer : -1, false});
  }
  for (const RecomputeRule& rule : rules_) {
    for (const int id : rule.outputs) nth(values_, id).is_recomputable = true;
  }
  for (size_t n = static_cast<size_t>(loss_node_) + 1; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    Late late{forward_values(node.inputs), {}};
    for (const ir::Alias& update : node.op->memory.updates) {
      if (node.input(update.in) >= 0) late.changes.push_back(node.input(update.in));
    }
    late_.push_back(std::move(late));
  }
}

std::vector<int> ScheduleBuilder::forward_values(const std::vector<int>& ids) const {
  std::vector<int> early;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(early),
               [this](int id) { return forward_producer(id) >= 0 && bytes(id) != kPersistent; });
  return early;
}

// Provides a forward value to a reader in the backward part: kept, or recomputed.
void ScheduleBuilder::provide(RematSchedule& schedule, int id, int reader) const {
  const int node = forward_producer(id);
  const Recompute choice = nth(schedule.recomputed, node);
  if (choice == Recompute::no || !is_recomputable(id)) {
    nth(building_.kept, id) = 1;
    return;
  }
  int& recomputed_for = nth(building_.recomputed_for, node);
  if (recomputed_for == reader || (recomputed_for != 0 && choice == Recompute::once)) return;
  recomputed_for = reader;
  const int self = ++building_.readers;
  for (const int input : recomputed_.inputs(node)) {
    if (building_.late.size() > most_entries_) schedule.valid = false;
    if (!schedule.valid) return;
    if (input < 0) continue;
    if (nth(building_.updated, input) != 0) schedule.valid = false;
    if (forward_producer(input) >= 0 && bytes(input) != kPersistent) provide(schedule, input, self);
  }
  building_.late.push_back({node, true});
}

// Lists the entries of the backward part.
void ScheduleBuilder::find_backward_part(RematSchedule& schedule) const {
  const size_t values = graph_.values.size();
  building_.late.clear();
  building_.recomputed_for.assign(graph_.nodes.size(), 0);
  building_.readers = 0;
  building_.kept.assign(values, 0);
  building_.updated.assign(values, 0);
  const auto end = static_cast<int>(graph_.nodes.size());
  for (int n = loss_node_ + 1; n < end && schedule.valid; ++n) {
    const Late& late = nth(late_, n - loss_node_ - 1);
    const int self = ++building_.readers;
    for (const int id : late.reads) provide(schedule, id, self);
    building_.late.push_back({n, false});
    for (const int id : late.changes) nth(building_.updated, id) = 1;
  }
}

// Adds the forward nodes that are still needed at their place.
void ScheduleBuilder::add_forward_part(RematSchedule& schedule) const {
  std::vector<char>& needed = building_.kept;
  for (int n = loss_node_; n >= 0; --n) {
    const std::span<const int> outputs = first_.outputs(n);
    const bool runs = std::any_of(outputs.begin(), outputs.end(), [&](int id) {
      return nth(needed, id) != 0 || nth(is_result_, id) != 0;
    });
    if (!runs && first_.step(n).op->memory.updates.empty()) continue;
    for (const int id : first_.inputs(n)) {
      if (id >= 0) nth(needed, id) = 1;
    }
    schedule.entries.push_back({n, false});
  }
  std::reverse(schedule.entries.begin(), schedule.entries.end());
}

// Builds the sequence of the entries. A recomputed value gets a new number.
void ScheduleBuilder::number_values(RematSchedule& schedule) const {
  Sequence& sequence = schedule.sequence;
  sequence.assign(bytes_, results_);
  sequence.reserve(schedule.entries.size(), first_.ids() + recomputed_.ids());
  schedule.original.resize(bytes_.size());
  std::iota(schedule.original.begin(), schedule.original.end(), 0);
  std::vector<int>& now = building_.now;
  now = schedule.original;
  const auto stands_for = [&now](int id) { return nth(now, id); };
  const auto make = [&](int id) {
    nth(now, id) = static_cast<int>(schedule.original.size());
    schedule.original.push_back(id);
    sequence.add_value(nth(bytes_, id));
    return stands_for(id);
  };
  for (const ScheduleEntry& entry : schedule.entries) {
    if (entry.recomputed) {
      sequence.add(recomputed_, entry.node, stands_for, make);
    } else {
      sequence.add(first_, entry.node, stands_for, stands_for);
    }
  }
}

RematSchedule ScheduleBuilder::build(std::vector<Recompute> recomputed) const {
  RematSchedule schedule;
  schedule.recomputed = std::move(recomputed);
  build(schedule);
  return schedule;
}

void ScheduleBuilder::build(RematSchedule& schedule) const {
  schedule.valid = true;
  schedule.entries.clear();
  find_backward_part(schedule);
  if (!schedule.valid) return;
  add_forward_part(schedule);
  schedule.entries.insert(schedule.entries.end(), building_.late.begin(), building_.late.end());
  number_values(schedule);
  building_.sharing.find(schedule.sequence, options_.in_place);
  schedule.live = live_bytes(schedule.sequence, building_.sharing);
  const auto peak = std::max_element(schedule.live.begin(), schedule.live.end());
  schedule.peak = static_cast<int>(peak - schedule.live.begin());
  schedule.peak_bytes = peak == schedule.live.end() ? 0 : *peak;
}

ir::Graph ScheduleBuilder::graph_of(const RematSchedule& schedule) const {
  ir::Rewriter rewriter(graph_);
  for (const ScheduleEntry& entry : schedule.entries) {
    ir::Node node = nth(graph_.nodes, entry.node);
    if (entry.recomputed) {
      const RecomputeRule& rule = nth(rules_, entry.node);
      node.op = rule.op;
      node.attrs = rule.attrs;
      node.inputs = rule.inputs;
      node.outputs = rule.outputs;
    }
    rewriter.copy(node);
    if (!entry.recomputed) continue;
    for (const int id : node.outputs) {
      nth(rewriter.graph().values, rewriter.new_id(id)).recomputed = true;
    }
  }
  return std::move(rewriter).finish();
}

double extra_work(const ScheduleBuilder& builder, const RematSchedule& schedule) {
  double sum = 0.0;
  for (const ScheduleEntry& entry : schedule.entries) {
    if (entry.recomputed) sum += builder.rule(entry.node).work;
  }
  return sum;
}

}  // namespace thimble::plan
