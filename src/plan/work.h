// What running a node is estimated to cost.
#pragma once

#include "ir/graph.h"

namespace thimble::plan {

// A byte read or written counts as much as so many floating-point operations.
inline constexpr double kOperationsPerByte = 8.0;

// Floating-point operations of a node whose op says that they are many; else 0.
[[nodiscard]] double flops_of(const ir::Graph& graph, const ir::Node& node);

// Bytes of a node's outputs.
[[nodiscard]] int64_t made_bytes(const ir::Graph& graph, const ir::Node& node);

// Whether all that a node makes lies where its input lies. A view of a parameter does not: it is a
// copy in the arena.
[[nodiscard]] bool is_view(const ir::Graph& graph, const ir::Node& node);

// Bytes that a node reads and writes; of a view none.
[[nodiscard]] int64_t bytes_of(const ir::Graph& graph, const ir::Node& node);

// Floating-point operations of a node, and the bytes that it reads and writes as operations. Views
// cost nothing.
[[nodiscard]] double work_of(const ir::Graph& graph, const ir::Node& node);

// The same of all nodes.
[[nodiscard]] double work_of(const ir::Graph& graph);

}  // namespace thimble::plan
