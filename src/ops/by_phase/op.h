#pragma once

#include <thimble/graph.h>

namespace thimble {

// One value in training, another at inference: the one that is not used is not computed.
// Both: the same type and shape. Throws Error where they differ.
Value by_phase(Value training, Value inference);

}  // namespace thimble
