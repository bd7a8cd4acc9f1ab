// The parts of a memory budget that reading samples and summing up metrics take.
#pragma once

#include <thimble/trainer_options.h>

#include <cstdint>

#include "ir/graph.h"

namespace thimble::train {

// Bytes that the options reserve for the input pipeline, which may also use what a budget leaves.
// Without the option: two batches of the model's inputs and labels. model: its batch is open.
[[nodiscard]] int64_t pipeline_bytes(const ir::Graph& model, const TrainerOptions& options);

// Bytes of a batch's samples of bool and i4 that do not fill whole bytes: they are read first, then
// their bits are packed. They are a part of those above.
[[nodiscard]] int64_t unpacked_bytes(const ir::Graph& model, int64_t batch);

// Bytes of the sums of metrics that have many values, such as a confusion matrix.
[[nodiscard]] int64_t sums_bytes(const ir::Graph& model);

}  // namespace thimble::train
