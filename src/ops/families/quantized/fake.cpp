#include "ops/families/quantized/fake.h"

#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/fake_quantize.h>
#include <thimble/ops/learned_scale.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/stop_gradient.h>
#include <thimble/ops/upsample2d.h>

namespace thimble::ops {
namespace {

// Attributes tell the op.
template <class AttrsT>
const AttrsT* attrs_of(const ir::Node& node) {
  const bool has = node.attrs && node.attrs.schema() == ir::Attrs::schema_of<AttrsT>();
  return has && !node.op->is_gradient ? &node.attrs.as<AttrsT>() : nullptr;
}

}  // namespace

std::optional<FakeSteps> fake_steps_of(const ir::Node& node) {
  const auto* const a = attrs_of<FakeQuantizeAttrs>(node);
  if (a == nullptr) return std::nullopt;
  return FakeSteps{a->zero_point, a->low, a->high, a->axis, a->parts};
}

Value in_steps(Value x, Value scale, const FakeSteps& s) {
  return fake_quantize(x, scale, {s.zero_point, s.low, s.high, s.axis, s.parts});
}

// The scales learn nothing from the bias.
Value bias_in_steps(Value bias, Value input_scale, Value weight_scale) {
  Value unit = stop_gradient(mul(weight_scale, input_scale));
  const int64_t of_group = unit.shape()[0];
  if (of_group > 1 && of_group < bias.shape()[0]) {  // groups share the scales
    unit = concat(std::vector<Value>(static_cast<size_t>(bias.shape()[0] / of_group), unit),
                  {.axis = 0});
  }
  return in_steps(bias, unit, kBiasSteps);
}

Value trained_scale(Value ratio, Value unit, double gradient_scale) {
  return learned_scale(ratio, unit, {.gradient_scale = gradient_scale});
}

std::optional<std::vector<float>> trained_scales_of(const ir::Node& node,
                                                    const std::vector<const Array*>& inputs) {
  if (attrs_of<LearnedScaleAttrs>(node) == nullptr) return std::nullopt;
  std::vector<float> scales = inputs[0]->floats();
  const std::vector<float> unit = inputs[1]->floats();
  for (size_t i = 0; i < scales.size(); ++i) {
    scales[i] = unit[i] * (scales[i] < kLeastScaleRatio ? kLeastScaleRatio : scales[i]);
  }
  return scales;
}

int64_t rounded_parts(const ir::Node& node) {
  if (const auto* const pool = attrs_of<AveragePool2dAttrs>(node)) {
    constexpr int64_t kMostParts = int64_t{1} << 16;  // of fake_quantize
    const int64_t parts = pool->kernel.h * pool->kernel.w;
    return parts <= kMostParts ? parts : 1;
  }
  const auto* const resized = attrs_of<Upsample2dOptions>(node);
  return resized != nullptr && resized->mode == Upsampling::bilinear ? 1 : 0;
}

}  // namespace thimble::ops
