#pragma once

#include <thimble/graph.h>

namespace thimble {

inline constexpr float kLeastScaleRatio = 0.0009765625F;  // 2^-10: scales stay above 0

struct LearnedScaleAttrs {
  double gradient_scale = 1.0;  // what the gradient of the scale is multiplied with
};
void describe(LearnedScaleAttrs& attrs, ir::FieldVisitor& visitor);

// Scales of fake_quantize that train: y = unit * max(ratio, 2^-10). ratio: [C], the parameter, 1 at
// the start; unit: [C], the scales at the start, above 0, a constant; y: [C]. One learning rate
// then fits weights and scales of any size, under Adam as well as under SGD: dratio = dy *
// gradient_scale / unit, so that a step of SGD changes y by what it would be if y itself were the
// parameter. For LSQ's gradient scale give 1 / sqrt(N * high), with N the numbers that share a
// scale, of one sample. Source: Esser et al., "Learned Step Size Quantization", ICLR 2020,
// section 2.2. Errors: Error unless both have one shape.
Value learned_scale(Value ratio, Value unit, const LearnedScaleAttrs& attrs = {});

}  // namespace thimble
