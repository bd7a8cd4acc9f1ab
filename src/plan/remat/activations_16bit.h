// 16-bit activations: values kept for the backward part in 16 bits, less exact, on request alone.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// The ops that do it: f32 to 16 bits and back.
struct ActivationStorage {
  const ir::OpDef* store = nullptr;  // null: nothing is stored so
  ir::Attrs store_attrs;
  const ir::OpDef* load = nullptr;
};

// The step in which f32 values of the forward part and of the batch that are alive and unread at
// the peak are kept for the backward part in 16 bits, as long as that lowers the peak. Small ones,
// such as statistics, stay as they are, and so do labels, indices and masks. What the forward part
// computes keeps its bits; gradients do not. Nodes stand in the order in which they will run.
[[nodiscard]] ir::Graph store_in_16_bits(const ir::Graph& graph, const ActivationStorage& storage,
                                         const ArenaOptions& options);

// How many values of a graph are stored in this form, and the bytes they take. Those that are
// recomputed or read back from a file do not count.
struct Kept {
  int values = 0;
  int64_t bytes = 0;
};
[[nodiscard]] Kept kept_as(const ir::Graph& graph, ir::Storage storage);

}  // namespace thimble::plan
