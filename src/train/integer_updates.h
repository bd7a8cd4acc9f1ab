// Updates of parameters of whole numbers: scaled gradients, and what is refused.
#pragma once

#include "ir/graph.h"
#include "train/update.h"

namespace thimble::train {

// Quantization-aware scaling: the gradient by the integers of a weight is divided by the square of
// its scale, that by a bias by the square of the real number that 1 stands for. A step by it moves
// real numbers as if they were trained themselves. A channel whose scale is less than this part of
// the tensor's largest one is dead: it counts as that part, so that its factor stays finite.
// Source: Lin et al., "On-Device Training Under 256KB Memory", 2022.
inline constexpr double kLeastScale = 0x1p-10;

// The scaled gradient. source: the parameter's id.
[[nodiscard]] Value scaled_by_units(ir::Graph& graph, Value grad, int source);

// Throws for settings that are for parameters of f32 alone. group: of the parameter, or null.
void check_whole(Value param, const ParamGroup* group, const UpdateOptions& options);
// Throws for a state of 8 bits.
void require_f32(Value param, const ir::StateSpec& spec);

}  // namespace thimble::train
