#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct HingeEmbeddingOptions {
  double margin = 1.0;  // least distance that dissimilar pairs should have
  Reduction reduction = Reduction::mean;
};

// Hinge embedding loss: reduce of x where the target is 1 and of max(0, margin - x) where it is
// -1. x: distances; target: a shape that broadcasts; f32. Equal to
// torch.nn.functional.hinge_embedding_loss. Throws Error where the shapes do not fit.
Value hinge_embedding(Value x, Value target, const HingeEmbeddingOptions& options = {});

}  // namespace thimble
