// Bytes of an optimizer's states.
#pragma once

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// Bytes that the optimizer's states save against 32-bit states.
[[nodiscard]] int64_t saved_state_bytes(const ir::Graph& step);

// Of a step: elements of parameters, those that it changes, and the bytes of parameters that it
// only reads.
struct TrainedCounts {
  int64_t parameters = 0;
  int64_t trained = 0;
  int64_t read_only_bytes = 0;
};
[[nodiscard]] TrainedCounts trained_counts(const ir::Graph& step);

}  // namespace thimble::train
