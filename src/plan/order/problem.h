// The memory of an order of nodes, updated node by node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/nth.h"

namespace thimble::plan {

// The nodes of a graph: what each waits for, and which bytes it makes and frees.
//
// Values that are views of one another are one item. While a node runs, these are alive: items made
// before it that are results or are read by it or a later node, the items it makes, and its
// workspace, less what it writes over items that it is the last to read. So the bytes alive after
// some nodes depend on which nodes ran and not on their order, and equal those of plan::Sharing.
class OrderProblem {
 public:
  // An output that may be written over an item if this node is the last to read it.
  struct Takeover {
    int made;
    int read;
    int64_t bytes;  // of each of the two
  };
  struct Read {
    int item;
    int64_t bytes;
  };
  struct Step {
    std::vector<int> after;           // nodes that wait for this one
    int waits = 0;                    // number of nodes it waits for
    std::vector<Read> reads;          // items, each once
    std::vector<int> makes;           // items
    std::vector<Takeover> takeovers;  // in the order in which they are tried
    int64_t workspace = 0;            // bytes
    int64_t made_bytes = 0;           // of all items that it makes
    int64_t staying_bytes = 0;        // of those, the items that are read or kept
  };
  struct Item {
    int64_t bytes = 0;
    int producer = -1;         // the node that makes it; -1: a source
    std::vector<int> readers;  // nodes
    bool kept = false;         // a result: alive to the end
  };

  // Rules: data flow; an update after all other readers of what it changes, and after the loss.
  // loss_first: nodes that the loss does not need run after it, too. Throws Error where rules
  // contradict one another.
  OrderProblem(const ir::Graph& graph, const ArenaOptions& options, bool loss_first = false);

  [[nodiscard]] int size() const { return static_cast<int>(steps_.size()); }
  [[nodiscard]] const Step& step(int node) const { return nth(steps_, node); }
  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] const Item& item(int i) const { return nth(items_, i); }
  // The order of the graph, changed only where the rules ask for it.
  [[nodiscard]] const std::vector<int>& natural() const { return natural_; }

 private:
  void add_items(const ir::Graph& graph);
  void add_takeovers(const ir::Graph& graph);
  void add_rules(const ir::Graph& graph, bool loss_first);
  [[nodiscard]] int item_of(int id) const { return id < 0 ? -1 : nth(item_of_, id); }

  std::vector<Step> steps_;
  std::vector<Item> items_;
  std::vector<int> item_of_;  // by value; -1: it lies outside of the arena
  std::vector<int> natural_;
};

// A run of some nodes, one after another, that can be undone from the last on.
class OrderRun {
 public:
  // The problem must outlive this.
  explicit OrderRun(const OrderProblem& problem);

  // Bytes added to live() while a node runs, and after it.
  struct Cost {
    int64_t during;
    int64_t after;
  };
  [[nodiscard]] Cost cost(int node) const;
  void run(int node);
  void undo();

  [[nodiscard]] int64_t live() const { return live_; }
  [[nodiscard]] const std::vector<int>& order() const { return order_; }
  // Nodes that may run next, by number.
  [[nodiscard]] const std::vector<int>& ready() const { return ready_; }
  [[nodiscard]] bool is_ready(int node) const { return nth(waits_, node) == 0; }
  [[nodiscard]] bool done() const { return order_.size() == waits_.size(); }
  // Key of the set of nodes that ran, the exclusive or of their hashes: equal for equal sets, and
  // almost never equal for others.
  [[nodiscard]] uint64_t key() const { return key_; }

 private:
  [[nodiscard]] bool dies_with_next_reader(int item) const { return nth(left_, item) == 1; }

  const OrderProblem* problem_;
  std::vector<int> left_;   // by item: readers that have not run, plus one if it is kept
  std::vector<int> waits_;  // by node: how many it waits for; -1: it ran
  std::vector<int> ready_;
  std::vector<int> order_;
  std::vector<int64_t> lives_;  // live bytes before each node of the order
  int64_t live_ = 0;
  uint64_t key_ = 0;
};

// The largest sum of bytes alive in an order of all nodes.
[[nodiscard]] int64_t peak_of(const OrderProblem& problem, std::span<const int> order);

// A lower bound of the peak of any order. While a node runs, values live that must be made before
// it and read after it, whatever the order; the bound is the largest sum of them.
[[nodiscard]] int64_t order_bound(const OrderProblem& problem);

}  // namespace thimble::plan
