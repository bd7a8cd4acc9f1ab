#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Soft margin loss: reduce of log(1 + exp(-target x)), target 1 or -1, without overflow. Both:
// shapes that broadcast, f32. Equal to torch.nn.functional.soft_margin_loss. Throws Error where
// the shapes do not fit.
Value soft_margin(Value x, Value target, const LossOptions& options = {});

}  // namespace thimble
