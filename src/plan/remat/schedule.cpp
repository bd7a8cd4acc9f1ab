#include "plan/remat/schedule.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

#include "ir/rewrite.h"
#include "plan/work.h"

namespace thimble::plan {
namespace {

// Of a step's operations, the share that may be done again as if products and convolutions of so
// few were cheap: two in a thousand.
constexpr double kLittle = 0.002;

// Operations for each byte that is made: a core that does 2e11 a second makes a gigabyte in one,
// as much as storage would give back.
constexpr double kFewPerByte = 200.0;

// Turns that a trial may have, or it is not tried. Where each reader has a node run anew, and nodes
// in a chain have two readers each, their number doubles with every link.
constexpr size_t kTurnsPerNode = 8;
constexpr size_t kTurnsOfSmallSteps = 1024;

// Forward nodes that multiply or convolve no longer than it takes to move their data, such as a
// convolution of one channel: those with the largest outputs, as far as kLittle goes.
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

// The node that makes a node's first output again, or the node itself.
ir::Node second_run(const ir::Node& node) {
  ir::Node second = node;
  if (node.op->rebuild == nullptr) return second;
  const ir::RebuildRule rule = node.op->rebuild(node.attrs);
  second.op = rule.op;
  second.attrs = rule.attrs;
  second.outputs = {node.outputs[0]};
  second.inputs.clear();
  for (const int source : rule.inputs) {
    second.inputs.push_back(source >= 0 ? node.input(source)
                                        : node.outputs[static_cast<size_t>(~source)]);
  }
  return second;
}

}  // namespace

Twice::Twice(const ir::Graph& graph, const ArenaOptions& options)
    : graph_(graph),
      options_(options),
      loss_node_(graph.data(*graph.loss).producer),
      most_turns_(kTurnsPerNode * graph.nodes.size() + kTurnsOfSmallSteps),
      bytes_(value_bytes(graph)),
      results_(graph.results()) {
  is_result_.assign(graph.values.size(), 0);
  for (const int id : results_) is_result_[static_cast<size_t>(id)] = 1;
  const std::set<const ir::Node*> little = little_products(graph, loss_node_);
  for (const ir::Node& node : graph.nodes) {
    first_.add(*node.op, node.inputs, node.outputs, workspace_bytes(graph, node, options));
    Maker maker;
    int64_t workspace = 0;
    const bool made_for_good = std::any_of(node.outputs.begin(), node.outputs.end(), [&](int id) {
      return is_result_[static_cast<size_t>(id)] != 0;
    });
    if (static_cast<int>(makers_.size()) < loss_node_ && node.op->updates.empty() &&
        !made_for_good) {
      const ir::Node second = second_run(node);
      maker = {second.op,
               second.attrs,
               second.inputs,
               second.outputs,
               work_of(graph, second),
               second.op->flops == nullptr || little.count(&node) > 0,
               is_view(graph, second)};
      workspace = workspace_bytes(graph, second, options);
      maker.affordable =
          flops_of(graph, second) <= kFewPerByte * static_cast<double>(made_bytes(graph, second));
    }
    again_.add(maker.op == nullptr ? *node.op : *maker.op, maker.inputs, maker.outputs, workspace);
    makers_.push_back(std::move(maker));
  }
  for (const ir::ValueData& data : graph.values) {
    values_.push_back({data.producer <= loss_node_ ? data.producer : -1, false});
  }
  for (const Maker& maker : makers_) {
    for (const int id : maker.outputs) values_[static_cast<size_t>(id)].is_made = true;
  }
  for (size_t n = static_cast<size_t>(loss_node_) + 1; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    Late late{early_of(node.inputs), {}};
    for (const ir::Alias& update : node.op->updates) {
      if (node.input(update.in) >= 0) late.changes.push_back(node.input(update.in));
    }
    late_.push_back(std::move(late));
  }
}

std::vector<int> Twice::early_of(const std::vector<int>& ids) const {
  std::vector<int> early;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(early),
               [this](int id) { return early_producer(id) >= 0 && bytes(id) != kPersistent; });
  return early;
}

// Sees to it that a late reader finds an early value: as it was kept, or made again.
void Twice::make_sure(Trial& trial, int id, int reader) const {
  const int node = early_producer(id);
  const Again again = trial.again[static_cast<size_t>(node)];
  if (again == Again::no || !is_made(id)) {
    building_.kept[static_cast<size_t>(id)] = 1;
    return;
  }
  int& made_for = building_.made_for[static_cast<size_t>(node)];
  if (made_for == reader || (made_for != 0 && again == Again::once)) return;
  made_for = reader;
  const int self = ++building_.readers;
  for (const int input : again_.inputs(node)) {
    if (building_.late.size() > most_turns_) trial.valid = false;
    if (!trial.valid) return;
    if (input < 0) continue;
    if (building_.updated[static_cast<size_t>(input)] != 0) trial.valid = false;
    if (early_producer(input) >= 0 && bytes(input) != kPersistent) make_sure(trial, input, self);
  }
  building_.late.push_back({node, true});
}

// The turns behind the loss.
void Twice::find_late_part(Trial& trial) const {
  const size_t values = graph_.values.size();
  building_.late.clear();
  building_.made_for.assign(graph_.nodes.size(), 0);
  building_.readers = 0;
  building_.kept.assign(values, 0);
  building_.updated.assign(values, 0);
  const auto end = static_cast<int>(graph_.nodes.size());
  for (int n = loss_node_ + 1; n < end && trial.valid; ++n) {
    const Late& late = late_[static_cast<size_t>(n - loss_node_ - 1)];
    const int self = ++building_.readers;
    for (const int id : late.reads) make_sure(trial, id, self);
    building_.late.push_back({n, false});
    for (const int id : late.changes) building_.updated[static_cast<size_t>(id)] = 1;
  }
}

// The forward nodes that are still needed where they stand.
void Twice::add_early(Trial& trial) const {
  std::vector<char>& needed = building_.kept;
  for (int n = loss_node_; n >= 0; --n) {
    const std::span<const int> outputs = first_.outputs(n);
    const bool runs = std::any_of(outputs.begin(), outputs.end(), [&](int id) {
      return needed[static_cast<size_t>(id)] != 0 || is_result_[static_cast<size_t>(id)] != 0;
    });
    if (!runs && first_.step(n).op->updates.empty()) continue;
    for (const int id : first_.inputs(n)) {
      if (id >= 0) needed[static_cast<size_t>(id)] = 1;
    }
    trial.turns.push_back({n, false});
  }
  std::reverse(trial.turns.begin(), trial.turns.end());
}

// The sequence of the turns, in which what is made again is a value of its own.
void Twice::number_values(Trial& trial) const {
  Sequence& sequence = trial.sequence;
  sequence.assign(bytes_, results_);
  sequence.reserve(trial.turns.size(), first_.ids() + again_.ids());
  trial.original.resize(bytes_.size());
  std::iota(trial.original.begin(), trial.original.end(), 0);
  std::vector<int>& now = building_.now;
  now = trial.original;
  const auto stands_for = [&now](int id) { return now[static_cast<size_t>(id)]; };
  const auto make = [&](int id) {
    now[static_cast<size_t>(id)] = static_cast<int>(trial.original.size());
    trial.original.push_back(id);
    sequence.add_value(bytes_[static_cast<size_t>(id)]);
    return stands_for(id);
  };
  for (const Turn& turn : trial.turns) {
    if (turn.again) {
      sequence.add(again_, turn.node, stands_for, make);
    } else {
      sequence.add(first_, turn.node, stands_for, stands_for);
    }
  }
}

Trial Twice::build(std::vector<Again> again) const {
  Trial trial;
  trial.again = std::move(again);
  build(trial);
  return trial;
}

void Twice::build(Trial& trial) const {
  trial.valid = true;
  trial.turns.clear();
  find_late_part(trial);
  if (!trial.valid) return;
  add_early(trial);
  trial.turns.insert(trial.turns.end(), building_.late.begin(), building_.late.end());
  number_values(trial);
  building_.sharing.find(trial.sequence, options_.in_place);
  live_bytes(trial.sequence, building_.sharing, trial.live);
  const auto fullest = std::max_element(trial.live.begin(), trial.live.end());
  trial.peak = static_cast<int>(fullest - trial.live.begin());
  trial.peak_bytes = fullest == trial.live.end() ? 0 : *fullest;
}

ir::Graph Twice::graph_of(const Trial& trial) const {
  ir::Rewriter rewriter(graph_);
  for (const Turn& turn : trial.turns) {
    ir::Node node = graph_.nodes[static_cast<size_t>(turn.node)];
    if (turn.again) {
      const Maker& maker = makers_[static_cast<size_t>(turn.node)];
      node.op = maker.op;
      node.attrs = maker.attrs;
      node.inputs = maker.inputs;
      node.outputs = maker.outputs;
    }
    rewriter.copy(node);
    if (!turn.again) continue;
    for (const int id : node.outputs) {
      rewriter.graph().values[static_cast<size_t>(rewriter.new_id(id))].name += kAgain;
    }
  }
  return std::move(rewriter).finish();
}

double extra_work(const Twice& twice, const Trial& trial) {
  double sum = 0.0;
  for (const Turn& turn : trial.turns) {
    if (turn.again) sum += twice.maker(turn.node).work;
  }
  return sum;
}

}  // namespace thimble::plan
