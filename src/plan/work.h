// Estimated cost of running a node.
#pragma once

#include "ir/graph.h"

namespace thimble::plan {

// Floating-point operations that a byte read or written counts as.
inline constexpr double kOperationsPerByte = 8.0;

// Floating-point operations of a node, if its op states them; else 0.
[[nodiscard]] double flops_of(const ir::Graph& graph, const ir::Node& node);

// Those in whose time its fast kernel runs.
[[nodiscard]] double fast_flops_of(const ir::Graph& graph, const ir::Node& node);

// Bytes of a node's outputs.
[[nodiscard]] int64_t made_bytes(const ir::Graph& graph, const ir::Node& node);

// Whether every output of a node shares its input's memory. A view of a parameter does not: it is a
// copy in the arena.
[[nodiscard]] bool is_view(const ir::Graph& graph, const ir::Node& node);

// Bytes that a node reads and writes; 0 for a view.
[[nodiscard]] int64_t bytes_of(const ir::Graph& graph, const ir::Node& node);

// Floating-point operations of a node plus its bytes as operations. 0 for a view.
[[nodiscard]] double work_of(const ir::Graph& graph, const ir::Node& node);

// The same of all nodes.
[[nodiscard]] double work_of(const ir::Graph& graph);

}  // namespace thimble::plan
