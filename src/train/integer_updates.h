// Updates of parameters of whole numbers: what they stand for, and what is refused.
#pragma once

#include "ir/graph.h"
#include "train/update.h"

namespace thimble::train {

// Quantization-aware scaling: an optimizer's rule is for the real numbers that integers stand for.
// The gradient by the integers is divided by the unit, the real number that 1 stands for, and so is
// the rule's change. Of plain SGD this divides the gradient by the square of the unit (Lin et al.,
// "On-Device Training Under 256KB Memory", 2022). A channel whose scale is less than this part of
// the tensor's largest one is dead: it counts as that part, so that changes stay finite.
inline constexpr double kLeastScale = 0x1p-10;

// The units of a parameter: one number, or one for each index of an axis, with 1 for the other
// axes. source: the parameter's id. Throws Error for an i32 that is no layer's bias.
[[nodiscard]] Value parameter_units(ir::Graph& graph, int source);

[[nodiscard]] inline bool is_whole(Value param) { return !is_floating(param.dtype()); }

// Throws for settings that are for parameters of f32 alone. group: of the parameter, or null.
void check_whole(Value param, const ParamGroup* group, const UpdateOptions& options);

}  // namespace thimble::train
