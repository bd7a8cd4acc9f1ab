#pragma once

#include <thimble/graph.h>

namespace thimble {

// Batches of sequences of different lengths, padded to one number of steps. x: [N, T, ...], f32;
// lengths: [N], i32, the valid steps of each sequence, clamped to [0, T]. Recurrent layers take
// such lengths directly. Errors: Error if the shapes do not match.

// x with 0 in the padding.
Value mask_sequence(Value x, Value lengths);

// The valid steps in reverse order; the padding is unchanged.
Value reverse_sequence(Value x, Value lengths);

// The last valid step, [N, ...]; 0 for a sequence without steps.
Value last_of_sequence(Value x, Value lengths);

}  // namespace thimble
