#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct CosineEmbeddingOptions {
  Reduction reduction = Reduction::mean;
  double margin = 0.0;  // dissimilar pairs with a lower cosine contribute nothing
};
void describe(CosineEmbeddingOptions& options, ir::FieldVisitor& visitor);

// reduce over rows of 1 - cos(a, b) where the target is 1, and of max(0, cos(a, b) - margin) where
// it is -1; other targets contribute nothing. cos(a, b) = a b / sqrt((a^2 + 1e-12) (b^2 + 1e-12)).
// a, b: [N, ..., D], one shape, f32; target: [N, ...], i32 or f32. The mean is over all rows;
// batch_mean divides by N alone. It has no gradient by the target. Equal to
// torch.nn.functional.cosine_embedding_loss. Errors: Error if the shapes do not match.
Value cosine_embedding(Value a, Value b, Value target, const CosineEmbeddingOptions& options = {});

}  // namespace thimble
