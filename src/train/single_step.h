// A step, or its gradients, on samples that the caller gives.
#pragma once

#include <thimble/trainer.h>

#include <functional>
#include <span>
#include <string>

#include "train/batch_stream.h"
#include "train/state.h"

namespace thimble::train {

// As Trainer::step, on the samples of a stream, which are to be one batch at most.
Evaluation single_step(State& state, BatchStream& stream);

// As Trainer::gradients. room: called with the name and shape of each gradient, it returns where
// the elements go, which are zero; they are valid until all is done.
Evaluation single_gradients(
    State& state, BatchStream& stream,
    const std::function<float*(const std::string& name, const Shape& shape)>& room);

}  // namespace thimble::train
