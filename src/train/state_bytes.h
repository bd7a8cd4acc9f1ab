// Bytes of an optimizer's states.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// Bytes that the optimizer's states save against 32-bit states.
[[nodiscard]] int64_t saved_state_bytes(const ir::Graph& step);

}  // namespace thimble::train
