// The training loop over any stream of batches.
#pragma once

#include <thimble/trainer.h>

#include <functional>

#include "train/batch_stream.h"
#include "train/state.h"

namespace thimble::train {

// As Trainer::fit. validate: called after every epoch, or empty. options.validation, shuffle,
// prefetch and augment are ignored. Throws Error, and whatever a callback throws.
FitResult fit(State& state, BatchStream& stream, const FitOptions& options,
              const std::function<Evaluation()>& validate);

}  // namespace thimble::train
