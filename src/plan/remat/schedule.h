// Schedules of a step with recomputed forward nodes, found without building graphs.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/lifetimes.h"
#include "plan/nth.h"

namespace thimble::plan {

// One node to run: the node itself, or the rule that recomputes its outputs.
struct ScheduleEntry {
  int node;
  bool recomputed;
  bool operator==(const ScheduleEntry&) const = default;
};

// How often a node is recomputed: never, once for all its backward readers, or once for each.
enum class Recompute : uint8_t { no, once, each };

// A choice of nodes to recompute, and the schedule and memory that follow.
struct RematSchedule {
  std::vector<Recompute> recomputed;  // by node
  // Whether no recomputed node reads a parameter after its update, and there are not too many
  // entries. If false, the other members have no meaning.
  bool valid = true;
  std::vector<ScheduleEntry> entries;  // in their order
  Sequence sequence{{}, {}};
  std::vector<int> original;  // by value of the sequence: the graph's value of which it is a copy
  std::vector<int64_t> live;  // bytes alive at each entry
  int64_t peak_bytes = 0;
  int peak = 0;  // the first entry of that many live bytes
};

// Builds schedules for one graph. The backward part of a step is every node after the loss.
class ScheduleBuilder {
 public:
  // How the outputs of a node are recomputed.
  struct RecomputeRule {
    const ir::OpDef* op = nullptr;  // null: they cannot be recomputed
    ir::Attrs attrs;
    std::vector<int> inputs;
    std::vector<int> outputs;
    double work = 0.0;       // see work.h
    bool cheap = true;       // no matrix product or convolution, or only a small one
    bool free = false;       // a view of a value of the arena
    bool affordable = true;  // few operations per byte of its result
  };

  // The graph must outlive this object. A node must compute its loss.
  ScheduleBuilder(const ir::Graph& graph, const ArenaOptions& options);

  [[nodiscard]] RematSchedule build(std::vector<Recompute> recomputed) const;
  // The same from schedule.recomputed; reuses the schedule's memory. Neither is thread-safe.
  void build(RematSchedule& schedule) const;
  // The graph of a schedule.
  [[nodiscard]] ir::Graph graph_of(const RematSchedule& schedule) const;

  [[nodiscard]] const ir::Graph& graph() const { return graph_; }
  [[nodiscard]] int loss_node() const { return loss_node_; }
  [[nodiscard]] const RecomputeRule& rule(int node) const { return nth(rules_, node); }
  // The forward node that computes a value, or -1.
  [[nodiscard]] int forward_producer(int id) const {
    return id < 0 ? -1 : nth(values_, id).producer;
  }
  // Whether the rule of its producer computes the value.
  [[nodiscard]] bool is_recomputable(int id) const { return nth(values_, id).is_recomputable; }
  [[nodiscard]] int64_t bytes(int id) const { return nth(bytes_, id); }

 private:
  // Reused memory. The backward part comes first; from it follows what the forward part has to run.
  struct Building {
    std::vector<ScheduleEntry> late;
    std::vector<int> recomputed_for;  // by node: the last reader it was recomputed for; 0: none
    int readers = 0;
    std::vector<char> kept;     // by value: the backward part reads the first copy
    std::vector<char> updated;  // by value: a backward node has changed it
    std::vector<int> now;       // by value: its current number in the sequence
    Sharing sharing;
  };
  // Those of these values that the forward part computes.
  [[nodiscard]] std::vector<int> forward_values(const std::vector<int>& ids) const;
  void provide(RematSchedule& schedule, int id, int reader) const;
  void find_backward_part(RematSchedule& schedule) const;
  void add_forward_part(RematSchedule& schedule) const;
  void number_values(RematSchedule& schedule) const;

  // Facts about a value that are looked up often.
  struct Value {
    int producer = -1;  // in the forward part
    bool is_recomputable = false;
  };
  // A node of the backward part.
  struct Late {
    std::vector<int> reads;    // forward_values of its inputs
    std::vector<int> changes;  // parameters and states that it updates
  };

  const ir::Graph& graph_;
  ArenaOptions options_;
  int loss_node_;
  size_t most_entries_;  // of the backward part
  std::vector<Value> values_;
  std::vector<RecomputeRule> rules_;
  std::vector<Late> late_;
  Sequence first_{{}, {}};       // inputs and outputs of each node
  Sequence recomputed_{{}, {}};  // inputs and outputs of each rule
  std::vector<int64_t> bytes_;
  std::vector<int> results_;
  std::vector<char> is_result_;
  mutable Building building_;
};

// Work of all recomputation; see work.h.
[[nodiscard]] double extra_work(const ScheduleBuilder& builder, const RematSchedule& schedule);

}  // namespace thimble::plan
