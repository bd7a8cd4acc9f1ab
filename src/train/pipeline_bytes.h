// The part of a memory budget that reading samples takes.
#pragma once

#include <thimble/trainer_options.h>

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// What the options set aside for the input pipeline, which may use what else a budget leaves, too;
// where they leave it open, what two batches take of the model's inputs and labels. model: its
// batch is open.
[[nodiscard]] int64_t pipeline_bytes(const ir::Graph& model, const TrainerOptions& options);

}  // namespace thimble::train
