#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct CosineSimilarityOptions {
  int64_t axis = -1;      // the axis of the vectors; negative counts from the last
  double epsilon = 1e-8;  // lower bound of each length
};

// The cosine of the angle between vectors along an axis: a b / (max(||a||, epsilon) max(||b||,
// epsilon)). a, b: shapes that broadcast, f32; y: the broadcast shape without the axis. Equal to
// torch.nn.functional.cosine_similarity. Throws Error where the shapes do not fit.
Value cosine_similarity(Value a, Value b, const CosineSimilarityOptions& options = {});

}  // namespace thimble
