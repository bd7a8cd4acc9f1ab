// What an optimizer's states weigh.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// Bytes that the optimizer's states would take more, were they kept with 32 bits.
[[nodiscard]] int64_t saved_state_bytes(const ir::Graph& step);

}  // namespace thimble::train
