#include "plan/twice.h"

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

// A trial on its way: the late turns, from which it follows what the early part still has to do.
struct Twice::Building {
  const std::vector<Again>& again;
  std::vector<Turn> late;
  std::vector<int> made_for;  // by node: the reader for which it ran again last; 0: none yet
  int readers = 0;
  std::vector<char> kept;     // by value: the late part reads the first of its kind
  std::vector<char> updated;  // by value: a late node has changed its storage
  bool valid = true;
};

Twice::Twice(const ir::Graph& graph, const ArenaOptions& options)
    : graph_(graph),
      options_(options),
      loss_node_(graph.data(*graph.loss).producer),
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
void Twice::make_sure(Building& building, int id, int reader) const {
  const int node = early_producer(id);
  const Again again = building.again[static_cast<size_t>(node)];
  if (again == Again::no || !is_made(id)) {
    building.kept[static_cast<size_t>(id)] = 1;
    return;
  }
  int& made_for = building.made_for[static_cast<size_t>(node)];
  if (made_for == reader || (made_for != 0 && again == Again::once)) return;
  made_for = reader;
  const int self = ++building.readers;
  for (const int input : again_.inputs(node)) {
    if (input < 0) continue;
    if (building.updated[static_cast<size_t>(input)] != 0) building.valid = false;
    if (early_producer(input) >= 0 && bytes(input) != kPersistent) {
      make_sure(building, input, self);
    }
  }
  building.late.push_back({node, true});
}

// The forward nodes that are still needed where they stand.
void Twice::add_early(Building& building, Trial& trial) const {
  std::vector<char>& needed = building.kept;
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

// The turns behind the loss.
Twice::Building Twice::late_part(Trial& trial) const {
  const size_t values = graph_.values.size();
  Building building{trial.again,
                    {},
                    std::vector<int>(graph_.nodes.size(), 0),
                    0,
                    std::vector<char>(values, 0),
                    std::vector<char>(values, 0)};
  const auto end = static_cast<int>(graph_.nodes.size());
  for (int n = loss_node_ + 1; n < end && building.valid; ++n) {
    const Late& late = late_[static_cast<size_t>(n - loss_node_ - 1)];
    const int self = ++building.readers;
    for (const int id : late.reads) make_sure(building, id, self);
    building.late.push_back({n, false});
    for (const int id : late.changes) building.updated[static_cast<size_t>(id)] = 1;
  }
  return building;
}

// The sequence of the turns, in which what is made again is a value of its own.
void Twice::number_values(Trial& trial) const {
  std::vector<int64_t> bytes;
  bytes.reserve(2 * bytes_.size());
  bytes = bytes_;
  trial.original.reserve(2 * bytes_.size());
  trial.original.resize(bytes_.size());
  std::iota(trial.original.begin(), trial.original.end(), 0);
  for (const Turn& turn : trial.turns) {
    if (!turn.again) continue;
    for (const int id : again_.outputs(turn.node)) {
      bytes.push_back(bytes_[static_cast<size_t>(id)]);
      trial.original.push_back(id);
    }
  }
  trial.sequence = Sequence(std::move(bytes), results_);
  trial.sequence.reserve(trial.turns.size(), first_.ids() + again_.ids());
  std::vector<int> now(bytes_.size());
  std::iota(now.begin(), now.end(), 0);
  auto next = static_cast<int>(bytes_.size());
  for (const Turn& turn : trial.turns) {
    const Sequence& from = turn.again ? again_ : first_;
    const std::span<const int> inputs = from.inputs(turn.node);
    const std::span<const int> outputs = from.outputs(turn.node);
    const Sequence::Step& step = from.step(turn.node);
    int* id_now =
        trial.sequence.add(*step.op, inputs.size(), outputs.size(), step.workspace).data();
    for (const int id : inputs) *id_now++ = id < 0 ? -1 : now[static_cast<size_t>(id)];
    for (const int id : outputs) {
      if (turn.again) now[static_cast<size_t>(id)] = next++;
      *id_now++ = now[static_cast<size_t>(id)];
    }
  }
}

Trial Twice::build(std::vector<Again> again) const {
  Trial trial;
  trial.again = std::move(again);
  Building building = late_part(trial);
  trial.valid = building.valid;
  if (!trial.valid) return trial;
  add_early(building, trial);
  trial.turns.insert(trial.turns.end(), building.late.begin(), building.late.end());
  number_values(trial);
  trial.live = live_bytes(trial.sequence, Sharing(trial.sequence, options_.in_place));
  const auto fullest = std::max_element(trial.live.begin(), trial.live.end());
  trial.peak = static_cast<int>(fullest - trial.live.begin());
  trial.peak_bytes = fullest == trial.live.end() ? 0 : *fullest;
  return trial;
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
