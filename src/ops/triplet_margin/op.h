#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct TripletMarginOptions {
  Reduction reduction = Reduction::mean;
  double margin = 1.0;
  double p = 2.0;         // of the norm, at least 1
  double epsilon = 1e-6;  // added to differences
  bool swap = false;  // replaces the distance of the negative by the smaller one of those to anchor
                      // and positive
};
void describe(TripletMarginOptions& options, ir::FieldVisitor& visitor);

// reduce over rows of max(0, d(anchor, positive) - d(anchor, negative) + margin) with
// d(a, b) = ||a - b + epsilon||_p along the last dimension. All three: [N, ..., D], one shape, f32.
// The mean is over all rows, batch_mean divides by N alone. Equal to
// torch.nn.functional.triplet_margin_loss. Source: Balntas et al., "Learning local feature
// descriptors with triplets and shallow convolutional neural networks", 2016 (swap).
// Errors: Error where the shapes differ.
Value triplet_margin(Value anchor, Value positive, Value negative,
                     const TripletMarginOptions& options = {});

}  // namespace thimble
