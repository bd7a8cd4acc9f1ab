// A step in which some forward nodes run twice: what runs when, without building the graph.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"
#include "plan/lifetimes.h"
#include "plan/value_names.h"

namespace thimble::plan {

// One step of the sequence: a node as it stands, or what makes its outputs again.
struct Turn {
  int node;
  bool again;
};

// Whether a node runs again: not at all, once for all that read its outputs late, or anew for each
// of them.
enum class Again : uint8_t { no, once, each };

// A choice of nodes that run again, and what comes of it.
struct Trial {
  std::vector<Again> again;  // by node
  // No second run reads a parameter that was updated before, and there are not too many. Else the
  // rest says nothing: such a trial is neither to be ranked nor made into a graph.
  bool valid = true;
  std::vector<Turn> turns;  // in their order
  Sequence sequence{{}, {}};
  std::vector<int> original;  // by value of the sequence: the value of the graph it stands for
  std::vector<int64_t> live;  // bytes alive at each turn
  int64_t peak_bytes = 0;
  int peak = 0;  // the first turn where they are alive
};

// Builds trials for one graph. The late part of a step is what stands behind the loss.
class Twice {
 public:
  // How the outputs of a node are made again.
  struct Maker {
    const ir::OpDef* op = nullptr;  // null: they cannot be
    ir::Attrs attrs;
    std::vector<int> inputs;
    std::vector<int> outputs;
    double work = 0.0;       // see work.h
    bool cheap = true;       // neither multiplies matrices nor convolves, or hardly so
    bool free = false;       // a view of what lies in the arena
    bool affordable = true;  // it takes few operations for a byte that it makes
  };

  // The graph must outlive this. It has a loss that a node computes.
  Twice(const ir::Graph& graph, const ArenaOptions& options);

  [[nodiscard]] Trial build(std::vector<Again> again) const;
  // The same from trial.again, in the memory that the trial has. Neither may run in several threads
  // at once.
  void build(Trial& trial) const;
  // The graph of a trial.
  [[nodiscard]] ir::Graph graph_of(const Trial& trial) const;

  [[nodiscard]] const ir::Graph& graph() const { return graph_; }
  [[nodiscard]] int loss_node() const { return loss_node_; }
  [[nodiscard]] const Maker& maker(int node) const { return makers_[static_cast<size_t>(node)]; }
  // The forward node that computes a value, or -1.
  [[nodiscard]] int early_producer(int id) const {
    return id < 0 ? -1 : values_[static_cast<size_t>(id)].producer;
  }
  // Whether the maker of that node makes the value.
  [[nodiscard]] bool is_made(int id) const { return values_[static_cast<size_t>(id)].is_made; }
  [[nodiscard]] int64_t bytes(int id) const { return bytes_[static_cast<size_t>(id)]; }

 private:
  // Memory for what is found on the way: the turns behind the loss, from which it follows what the
  // early part still has to do.
  struct Building {
    std::vector<Turn> late;
    std::vector<int> made_for;  // by node: the reader for which it ran again last; 0: none yet
    int readers = 0;
    std::vector<char> kept;     // by value: the late part reads the first of its kind
    std::vector<char> updated;  // by value: a late node has changed its storage
    std::vector<int> now;       // by value: what stands for it in the sequence
    Sharing sharing;
  };
  // Values that the forward part makes anew in every step, of those that are read.
  [[nodiscard]] std::vector<int> early_of(const std::vector<int>& ids) const;
  void make_sure(Trial& trial, int id, int reader) const;
  void find_late_part(Trial& trial) const;
  void add_early(Trial& trial) const;
  void number_values(Trial& trial) const;

  // What is asked of a value over and over.
  struct Value {
    int producer = -1;  // in the forward part
    bool is_made = false;
  };
  // A node behind the loss.
  struct Late {
    std::vector<int> reads;    // early_of its inputs
    std::vector<int> changes;  // what it updates
  };

  const ir::Graph& graph_;
  ArenaOptions options_;
  int loss_node_;
  size_t most_turns_;  // behind the loss
  std::vector<Value> values_;
  std::vector<Maker> makers_;
  std::vector<Late> late_;
  Sequence first_{{}, {}};  // what each node does where it stands
  Sequence again_{{}, {}};  // what each maker does, where there is one
  std::vector<int64_t> bytes_;
  std::vector<int> results_;
  std::vector<char> is_result_;
  mutable Building building_;
};

// Work of all second runs; see work.h.
[[nodiscard]] double extra_work(const Twice& twice, const Trial& trial);

}  // namespace thimble::plan
