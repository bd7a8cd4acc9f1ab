// Smaller forms in which values are kept for the backward part: 16 bits, or one bit per element.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/arena.h"

namespace thimble::plan {

// The ops that convert f32 to 16 bits and back.
struct ActivationStorage {
  const ir::OpDef* store = nullptr;  // null: 16-bit storage is off
  ir::Attrs store_attrs;
  const ir::OpDef* load = nullptr;
};

// The step with f32 values of the forward part and the batch stored in 16 bits for the backward
// part: those that are alive and unread at the peak, as long as the peak falls. This loses
// precision and is done on request only. Small values, such as statistics, and labels, indices and
// masks stay as they are. Results of the forward part keep their bits; gradients do not. Nodes must
// stand in the order in which they will run.
[[nodiscard]] ir::Graph store_in_16_bits(const ir::Graph& graph, const ActivationStorage& storage,
                                         const ArenaOptions& options);

// The step, in one or several orders, with bit masks (MemoryTraits::mask) kept for the backward
// part instead of values, if that lowers the peak of the first order after cheap recomputation;
// else the step as it is. A value that other nodes read whole is kept for them. Every result keeps
// its bits. Source: Jain et al., "Gist: Efficient Data Encoding for Deep Neural Network Training",
// 2018.
[[nodiscard]] std::vector<ir::Graph> keep_bit_masks(std::span<const ir::Graph> orders,
                                                    const ArenaOptions& options);

// Names of the values that a graph stores in this form; without recomputed and fetched ones.
[[nodiscard]] std::vector<std::string> stored_as(const ir::Graph& graph, ir::Storage storage);

}  // namespace thimble::plan
