#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MarginRankingOptions {
  double margin = 0.0;  // the difference they should have
  Reduction reduction = Reduction::mean;
};

// Margin ranking loss: reduce of max(0, -target (a - b) + margin), target 1 where a should be
// the larger and -1 where b should. a, b, target: shapes that broadcast, f32. Equal to
// torch.nn.functional.margin_ranking_loss. Throws Error where the shapes do not fit.
Value margin_ranking(Value a, Value b, Value target, const MarginRankingOptions& options = {});

}  // namespace thimble
