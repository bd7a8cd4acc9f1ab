// Lifetimes, shared buffers and offsets of a graph whose node order is settled.
#pragma once

#include <thimble/plan.h>

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::plan {

struct ArenaOptions {
  int threads = 1;       // workspaces may grow with it
  bool fast = true;      // count the workspaces of the fast kernels
  bool in_place = true;  // let outputs take over the buffers of dead inputs
  // Weights are kept in the form that their kernels bring them into (ir::PreparedWeights).
  bool prepared = false;
};

// The plan of an arena, and which buffers its values and workspaces have.
struct Arena {
  Plan plan;
  std::vector<int> buffer_of_value;    // index into plan.buffers; -1: persistent or never read
  std::vector<int> workspace_of_node;  // likewise; -1: none
};

// Plans the arena. Buffers of results live to the end of the step. Deterministic. in_file:
// parameters and state that lie in the swap file.
[[nodiscard]] Arena plan_arena(const ir::Graph& graph, const ArenaOptions& options,
                               const std::set<std::string>& in_file = {});

// Bytes of the plan that a budget counts.
[[nodiscard]] int64_t counted_bytes(const Plan& plan);

// Bytes of scratch memory for the kernel of one node, and of every node.
[[nodiscard]] int64_t workspace_bytes(const ir::Graph& graph, const ir::Node& node,
                                      const ArenaOptions& options);
[[nodiscard]] std::vector<int64_t> workspaces(const ir::Graph& graph, const ArenaOptions& options);

// How the weights of a node are kept beside the arena in the form that its kernel reads, and the
// bytes of that form. Null, 0: they are not.
struct PreparedNode {
  const ir::PreparedWeights* rule = nullptr;
  int64_t bytes = 0;
};
[[nodiscard]] PreparedNode prepared_node(const ir::Graph& graph, const ir::Node& node,
                                         const ArenaOptions& options);

// The parameters a node's kernels take, from its attributes and types.
[[nodiscard]] ir::Params kernel_params(const ir::Graph& graph, const ir::Node& node);
// Those of the gradient of a tiled update, for all its rows.
[[nodiscard]] ir::Params gradient_params(const ir::Graph& graph, const ir::Node& node);

// Bytes of the parameters and state of a graph that stay in memory.
[[nodiscard]] int64_t resident_bytes(const ir::Graph& graph, const std::set<std::string>& in_file);

inline constexpr int64_t kAlignment = 64;  // a cache line, and the widest vector

[[nodiscard]] constexpr int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace thimble::plan
