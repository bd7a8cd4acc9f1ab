// Saves and loads the complete state of a training.
#pragma once

#include <string>

#include "exec/memory.h"
#include "train/state.h"

namespace thimble::train {

// Tensors: every parameter and state by name, and the constants of the model. Metadata: format, the
// model's graph (io/model), step, epoch, batch, seed, settings
// that change results, the sums of the running epoch (as exact hexadecimal floats).
void save_checkpoint(const State& state, const std::string& path);

// Restores everything, or throws Error and changes nothing.
void load_checkpoint(State& state, const std::string& path);

// Loads the model's parameters, or their averages if the file has them, and states (running
// statistics), without the optimizer's states. Throws Error and changes nothing if one is missing
// or has another shape.
void load_weights(exec::Store& store, const ir::Graph& model, const std::string& path);

// The same for a training, whose next step begins with them. model: its model, or a part, whose
// parameters and states alone are loaded.
void load_weights(State& state, const ir::Graph& model, const std::string& path);

}  // namespace thimble::train
