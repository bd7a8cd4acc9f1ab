#include "ops/families/quantized/inside.h"

#include <fmt/format.h>
#include <thimble/ops/activation_bits.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/mul.h>

#include "ir/graph.h"
#include "ops/families/quantized/quantized.h"

namespace thimble::ops {

OpDef inside_op(const OpDef& of, const char* name,
                std::vector<ir::TensorType> (*infer)(const ir::InferContext&), ir::KernelFn ref,
                ir::KernelFn ref64) {
  return {
      .name = name,
      .is_gradient = true,
      .signature{
          .doc = "One bit an element: whether the result of the op lay within its bounds before it "
                 "was clamped. The gradient is 0 where it did not.",
          .inputs = of.signature.inputs,
          .outputs = {{"bits", "the shape of the op's result, boolean"}},
          .attrs = of.signature.attrs,
      },
      .infer = infer,
      .kernels{
          .params = of.kernels.params,
          .flops = of.kernels.flops,
          .device_work = of.kernels.device_work,
          .ref = ref,
          .ref64 = ref64,
          .any_type = of.kernels.any_type,
      },
      // Bits of two samples may share a byte.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
}

Value straight_through(const ir::VjpContext& c, const OpDef& inside) {
  return grad_by_bits(c.grad(), c.grad().graph().add(inside, c.attrs, c.inputs)[0]);
}

Value centered(Value x) {
  const Value numbers = integers(x);
  const std::vector<int32_t>& zero_points = x.quantization()->zero_points;
  if (zero_points.empty() || zero_points[0] == 0) return numbers;
  return numbers - static_cast<double>(zero_points[0]);
}

Value integers(Value x) { return cast(x, DType::f32); }

Value times_channels(Value x, const std::vector<double>& factors, Value owner) {
  const auto other = [&](double factor) { return factor != factors[0]; };
  if (factors.empty()) return x;
  if (std::none_of(factors.begin(), factors.end(), other)) return x * factors[0];
  const Value constant =
      x.graph().own_constant(fmt::format("@factors_of_{}", owner.id()), [&factors] {
        const std::vector<float> values(factors.begin(), factors.end());
        return Array(values, {static_cast<int64_t>(values.size())});
      });
  return x * constant;
}

std::vector<double> bias_units(const ir::TensorType& x, const ir::TensorType& weight,
                               int64_t channels) {
  const auto known = static_cast<int64_t>(weight.quantization->scales.size());
  std::vector<double> units;
  for (int64_t k = 0; k < channels; ++k) {
    units.push_back(static_cast<double>(scale_of(x)) *
                    static_cast<double>(channel_scale(weight, k % known)));
  }
  return units;
}

std::vector<double> sum_factors(const ir::TensorType& x, const ir::TensorType& weight, double scale,
                                int64_t channels) {
  std::vector<double> factors = bias_units(x, weight, channels);
  for (double& factor : factors) factor /= static_cast<double>(static_cast<float>(scale));
  return factors;
}

}  // namespace thimble::ops
