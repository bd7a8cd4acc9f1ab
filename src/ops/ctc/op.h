#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CtcOptions {
  Reduction reduction = Reduction::mean;
  int64_t blank = 0;  // the class of the blank, which is no symbol
  bool zero_infinity =
      false;  // targets too long for their sequence have a loss of 0 and no gradient
};
void describe(CtcOptions& options, ir::FieldVisitor& visitor);

// Connectionist temporal classification: minus the log probability of all alignments of the target
// (with blanks and repeats removed), reduced over the batch; computed in log space. logits: [N, T,
// classes], f32, normalized by log_softmax inside (log probabilities are unchanged by it); targets:
// [N, S], i32, classes without the blank; entries beyond a target's length are -1 or any class;
// input_lengths, target_lengths: [N], i32, or none for T and S. A target longer than its sequence
// allows gives infinity; lengths or classes out of range give NaN. As in PyTorch, the mean is that
// of each loss divided by its target's length (at least 1); batch_mean divides the sum by N.
// Training keeps N * T * (2 S + 1) numbers. Source: Graves et al., "Connectionist temporal
// classification", 2006. Errors: Error if the shapes do not match.
Value ctc(Value logits, Value targets, Value input_lengths, Value target_lengths,
          const CtcOptions& options = {});

}  // namespace thimble
