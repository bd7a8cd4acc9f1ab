#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Several labels a row: reduce over rows of the sum over its labels l and the classes c that are
// none of max(0, 1 - x[l] + x[c]) / C. x: [N, C], f32; labels: [N, C], i32, the classes of a
// row, those before the first negative number; one that is no class makes the loss NaN. Needs N C C
// numbers. Equal to torch.nn.functional.multilabel_margin_loss. Throws Error where the shapes do
// not fit.
Value multilabel_margin(Value x, Value labels, const LossOptions& options = {});

}  // namespace thimble
