// The ops by which a network is trained that will compute on int8, for those that build such
// networks and name no op.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::ops {

// The integers in whose steps numbers are left.
struct FakeSteps {
  int64_t zero_point = 0;
  int64_t low = -128;
  int64_t high = 127;
  int64_t axis = 0;   // which several scales count
  int64_t parts = 1;  // the number is the mean of this many whole steps
};

// The steps of a node that rounds its input 0 to steps of the scale in input 1; none: it does not.
[[nodiscard]] std::optional<FakeSteps> fake_steps_of(const ir::Node& node);

// x in these steps.
Value in_steps(Value x, Value scale, const FakeSteps& steps);
// A bias in whole products of the scales of its layer's input and weight, as int32 holds it.
Value bias_in_steps(Value bias, Value input_scale, Value weight_scale);
inline constexpr FakeSteps kBiasSteps{.low = -(1 << 30), .high = 1 << 30};

// Scales that train: a ratio, 1 at the start, of the unit.
Value trained_scale(Value ratio, Value unit, double gradient_scale);
// The numbers of a node that makes such scales, from those of its inputs; none: it is another.
[[nodiscard]] std::optional<std::vector<float>> trained_scales_of(
    const ir::Node& node, const std::vector<const Array*>& inputs);

// For an op whose int8 form keeps the scale of its input and rounds: of how many values of the
// input a result is the mean; 1 where it is another number between them; 0: it does not round.
[[nodiscard]] int64_t rounded_parts(const ir::Node& node);

}  // namespace thimble::ops
