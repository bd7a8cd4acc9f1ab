// Trains with programs of files that anybody may have made, if that takes little time and memory.
#pragma once

#include <thimble/data.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bounded_run.h"
#include "train/single_step.h"
#include "train/state.h"
#include "train/training_program.h"

namespace thimble::test {

// A full batch of zeros for a training's inputs and labels; none if it is large.
inline std::optional<data::Dataset> zeros_for(const train::TrainingProgram& training) {
  constexpr int64_t kMostElements = int64_t{1} << 16;
  std::vector<data::Field> fields;
  std::vector<data::Values> values;
  for (const ir::ValueData& value : training.interface.values) {
    const bool is_label = value.role == ir::Role::label;
    if (!is_label && value.role != ir::Role::input) continue;
    const ir::TensorType& type = value.type;
    const Shape batch = ir::with_batch(type.shape, training.options.batch);
    if (batch.elements() > kMostElements) return std::nullopt;
    fields.push_back(
        {*value.name, Shape({batch.dims().begin() + 1, batch.dims().end()}), type.dtype, is_label});
    values.push_back(Array::of_bytes(
        type.dtype, batch,
        std::vector<std::byte>(static_cast<size_t>(size_bytes(type.dtype, batch)))));
  }
  return data::in_memory(std::move(fields), std::move(values));
}

// Feeds one batch to a small training without a swap file and runs a step. False if it did not run.
// Throws Error as a training does.
inline bool train_bounded(train::TrainingProgram training) {
  constexpr int64_t kMostSamples = 64;
  if (training.options.batch > kMostSamples) return false;
  for (const auto& [key, program] : training.programs) {
    if (!program.slot_bytes.empty() || program.transfers() > 0 || !is_small(program)) return false;
  }
  const std::optional<data::Dataset> samples = zeros_for(training);
  if (!samples) return false;
  training.given = {};  // they stay in a file that is none here
  train::State state(std::move(training));
  state.allocate();
  train::LoaderStream stream(
      *samples, {.batch = state.options.batch, .shuffle = false, .training = false, .prefetch = 0});
  static_cast<void>(train::single_step(state, stream));
  return true;
}

}  // namespace thimble::test
