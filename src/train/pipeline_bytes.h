// The part of a memory budget that reading samples takes.
#pragma once

#include <thimble/trainer_options.h>

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// Bytes that the options reserve for the input pipeline, which may also use what a budget leaves.
// Without the option: two batches of the model's inputs and labels. model: its batch is open.
[[nodiscard]] int64_t pipeline_bytes(const ir::Graph& model, const TrainerOptions& options);

}  // namespace thimble::train
