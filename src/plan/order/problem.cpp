#include "plan/order/problem.h"

#include <algorithm>
#include <numeric>

#include "plan/lifetimes.h"
#include "plan/nth.h"

namespace thimble::plan {
namespace {

void sort_and_unite(std::vector<int>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// By node: whether the given node depends on it, or is it.
std::vector<char> needed_by(const ir::Graph& graph, int node) {
  std::vector<char> needed(graph.nodes.size(), 0);
  if (node >= 0) nth(needed, node) = 1;
  for (int n = node; n >= 0; --n) {
    if (nth(needed, n) == 0) continue;
    for (const int id : nth(graph.nodes, n).inputs) {
      const int producer = id < 0 ? -1 : graph.data(id).producer;
      if (producer >= 0) nth(needed, producer) = 1;
    }
  }
  return needed;
}

// A hash of a node. G. L. Steele et al., "Fast splittable pseudorandom number
// generators", OOPSLA 2014.
uint64_t hash_of(int node) {
  uint64_t z = (static_cast<uint64_t>(node) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

OrderProblem::OrderProblem(const ir::Graph& graph, const ArenaOptions& options, bool loss_first)
    : steps_(graph.nodes.size()) {
  const std::vector<int64_t> wanted = workspaces(graph, options);
  for (size_t n = 0; n < steps_.size(); ++n) steps_[n].workspace = wanted[n];
  add_items(graph);
  if (options.in_place) add_takeovers(graph);
  add_rules(graph, loss_first);
  OrderRun run(*this);
  while (!run.ready().empty()) run.run(run.ready().front());
  if (!run.done())
    throw Error("order", "updates and their readers depend on each other in a cycle");
  natural_ = run.order();
}

void OrderProblem::add_items(const ir::Graph& graph) {
  const std::vector<int64_t> bytes = value_bytes(graph);
  item_of_.assign(bytes.size(), -1);
  const auto add = [&](int id, int producer) {
    if (item_of(id) >= 0 || nth(bytes, id) == kPersistent) return;
    nth(item_of_, id) = static_cast<int>(items_.size());
    items_.push_back({nth(bytes, id), producer, {}, false});
    if (producer >= 0) nth(steps_, producer).makes.push_back(item_of(id));
  };
  for (size_t id = 0; id < graph.values.size(); ++id) {
    if (graph.values[id].producer < 0) add(static_cast<int>(id), -1);
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    for (const std::vector<ir::Alias>* const same :
         {&node.op->memory.views, &node.op->memory.updates}) {
      for (const ir::Alias& alias : *same) {
        const int input = node.input(alias.in);
        if (input < 0) continue;
        nth(item_of_, nth(node.outputs, alias.out)) = item_of(input);
      }
    }
    for (const int id : node.outputs) add(id, static_cast<int>(n));
    std::vector<int> reads;
    for (const int id : node.inputs) {
      if (item_of(id) >= 0) reads.push_back(item_of(id));
    }
    sort_and_unite(reads);
    for (const int i : reads) {
      steps_[n].reads.push_back({i, item(i).bytes});
      nth(items_, i).readers.push_back(static_cast<int>(n));
    }
  }
  for (const int id : graph.results()) {
    if (item_of(id) >= 0) nth(items_, item_of(id)).kept = true;
  }
  for (const Item& item : items_) {
    if (item.producer < 0) continue;
    Step& step = nth(steps_, item.producer);
    step.made_bytes += item.bytes;
    if (item.kept || !item.readers.empty()) step.staying_bytes += item.bytes;
  }
}

void OrderProblem::add_takeovers(const ir::Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    for (const ir::Alias& alias : node.op->memory.in_place) {
      const int read = item_of(node.input(alias.in));
      const int made = item_of(nth(node.outputs, alias.out));
      if (read < 0 || made < 0 || item(read).bytes != item(made).bytes) continue;
      const auto reads = std::count_if(node.inputs.begin(), node.inputs.end(),
                                       [&](int id) { return item_of(id) == read; });
      if (reads == 1 || node.op->flow.elementwise) {
        steps_[n].takeovers.push_back({made, read, item(made).bytes});
      }
    }
  }
}

void OrderProblem::add_rules(const ir::Graph& graph, bool loss_first) {
  const auto readers = graph.consumers();
  const int loss_node = graph.loss ? graph.data(*graph.loss).producer : -1;
  const auto add = [this](int before, int after) {
    if (before >= 0 && before != after) {
      nth(steps_, before).after.push_back(after);
    }
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    const int number = static_cast<int>(n);
    for (const int id : node.inputs) {
      if (id >= 0) add(graph.data(id).producer, number);
    }
    for (const ir::Alias& update : node.op->memory.updates) {
      const int id = node.input(update.in);
      if (id < 0) continue;
      for (const int reader : nth(readers, id)) add(reader, number);
      add(loss_node, number);
    }
  }
  const std::vector<char> needed = needed_by(graph, loss_node);
  for (size_t n = 0; n < needed.size() && loss_first; ++n) {
    if (needed[n] == 0) add(loss_node, static_cast<int>(n));
  }
  for (Step& step : steps_) {
    sort_and_unite(step.after);
    for (const int next : step.after) ++nth(steps_, next).waits;
  }
}

OrderRun::OrderRun(const OrderProblem& problem) : problem_(&problem) {
  for (const OrderProblem::Item& item : problem.items()) {
    left_.push_back(static_cast<int>(item.readers.size()) + (item.kept ? 1 : 0));
    if (item.producer < 0 && left_.back() > 0) live_ += item.bytes;
  }
  for (int n = 0; n < problem.size(); ++n) {
    waits_.push_back(problem.step(n).waits);
    if (waits_.back() == 0) ready_.push_back(n);
  }
}

OrderRun::Cost OrderRun::cost(int node) const {
  const OrderProblem::Step& step = problem_->step(node);
  Cost cost{step.workspace + step.made_bytes, step.staying_bytes};
  for (const OrderProblem::Read& read : step.reads) {
    if (dies_with_next_reader(read.item)) cost.after -= read.bytes;
  }
  const std::vector<OrderProblem::Takeover>& takeovers = step.takeovers;
  uint64_t taken = 0;
  for (size_t i = 0; i < takeovers.size(); ++i) {
    bool possible = dies_with_next_reader(takeovers[i].read);
    for (size_t j = 0; j < i && possible; ++j) {
      const bool other = (taken >> j & 1U) != 0;
      possible = !other ||
                 (takeovers[j].read != takeovers[i].read && takeovers[j].made != takeovers[i].made);
    }
    if (!possible) continue;
    taken |= uint64_t{1} << i;
    cost.during -= takeovers[i].bytes;
  }
  return cost;
}

void OrderRun::run(int node) {
  lives_.push_back(live_);
  live_ += cost(node).after;
  const OrderProblem::Step& step = problem_->step(node);
  for (const OrderProblem::Read& read : step.reads) --nth(left_, read.item);
  ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), node));
  nth(waits_, node) = -1;
  for (const int next : step.after) {
    if (--nth(waits_, next) == 0) {
      ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), next), next);
    }
  }
  order_.push_back(node);
  key_ ^= hash_of(node);
}

void OrderRun::undo() {
  const int node = order_.back();
  const OrderProblem::Step& step = problem_->step(node);
  order_.pop_back();
  key_ ^= hash_of(node);
  for (const int next : step.after) {
    if (nth(waits_, next)++ == 0) {
      ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), next));
    }
  }
  nth(waits_, node) = 0;
  ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), node), node);
  for (const OrderProblem::Read& read : step.reads) ++nth(left_, read.item);
  live_ = lives_.back();
  lives_.pop_back();
}

int64_t peak_of(const OrderProblem& problem, std::span<const int> order) {
  OrderRun run(problem);
  int64_t peak = 0;
  for (const int node : order) {
    peak = std::max(peak, run.live() + run.cost(node).during);
    run.run(node);
  }
  return peak;
}

}  // namespace thimble::plan
