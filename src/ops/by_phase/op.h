#pragma once

#include <thimble/graph.h>

namespace thimble {

// One value in training, another at inference; the unused one is not computed. Both must have the
// same type and shape. Throws Error if they differ.
Value by_phase(Value training, Value inference);

}  // namespace thimble
