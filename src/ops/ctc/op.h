#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CtcOptions {
  Reduction reduction = Reduction::mean;
  int64_t blank = 0;           // the class of the blank, which is no symbol
  bool zero_infinity = false;  // targets too long for their sequence count 0, with no gradient
};

// Connectionist temporal classification: minus the log probability of all ways to write the target,
// blanks and repeats taken out, reduced over the batch; computed in log space.
// logits: [N, T, classes], f32, normalised by log_softmax inside (log probabilities stay as they
// are); targets: [N, S], i32, classes without the blank, beyond a target's length -1 or any class;
// input_lengths, target_lengths: [N], i32, or none for T and S. A target longer than its sequence
// allows gives infinity; lengths or classes out of range give NaN. As in PyTorch the mean is of
// each loss divided by its target's length (at least 1); batch_mean divides their sum by N.
// Training keeps N * T * (2 S + 1) numbers. Source: Graves et al., "Connectionist temporal
// classification", 2006. Errors: Error where the shapes do not fit.
Value ctc(Value logits, Value targets, Value input_lengths, Value target_lengths,
          const CtcOptions& options = {});

}  // namespace thimble
