#pragma once

#include <thimble/graph.h>

namespace thimble {

// Batches of sequences of different lengths, padded to one number of steps. x: [N, T, ...], f32;
// lengths: [N], i32, the steps of each sequence that count; below 0 means 0 and beyond T means T.
// Recurrent layers take such lengths themselves. Errors: Error where the shapes do not fit.

// x with 0 in the steps that do not count.
Value mask_sequence(Value x, Value lengths);

// The steps that count in the reverse order; the others stay where they are.
Value reverse_sequence(Value x, Value lengths);

// The last step that counts, [N, ...]; 0 of a sequence without steps.
Value last_of_sequence(Value x, Value lengths);

}  // namespace thimble
