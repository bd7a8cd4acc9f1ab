#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// The cross-entropy between probabilities t and sigmoid(x):
// reduce of max(x, 0) - x t + log(1 + exp(-|x|)), which neither overflows nor loses small terms.
// logits, targets: any one shape, f32; targets in [0, 1]. weight and pos_weight: shapes that
// broadcast, or none: what each term counts, and what its part t log sigmoid(x) counts besides. A
// sum over the pixels of an image, averaged over images, is Reduction::batch_mean. Throws Error
// where the shapes differ.
Value binary_cross_entropy_with_logits(Value logits, Value targets,
                                       const LossOptions& options = {});
Value binary_cross_entropy_with_logits(Value logits, Value targets, Value weight, Value pos_weight,
                                       const LossOptions& options);

}  // namespace thimble
