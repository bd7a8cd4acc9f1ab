// What the sum and the difference of two quantized tensors share (pair.h).
#pragma once

#include <thimble/ops/affine.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/quantized/pair.h"
#include "ops/families/quantized/sum_dims.h"

namespace thimble::ops {

// a + sign * b; sign: 1 or -1.
template <class AttrsT, int sign>
struct QuantizedSum {
  using Attrs = AttrsT;
  using Dims = quantized_sum_dims;

  // In fixed point: from twice the larger scale, with 20 more bits, to that of the result.
  static double factor(const ir::TensorType& a, const ir::TensorType& b, double scale) {
    const double twice = 2.0 * static_cast<double>(std::max(scale_of(a), scale_of(b)));
    return twice / (0x1p20 * static_cast<double>(static_cast<float>(scale)));
  }
  static void add_factors(Dims& d, const ir::TensorType& a, const ir::TensorType& b,
                          const Attrs& attrs) {
    d.a_scale = scale_of(a);
    d.b_scale = scale_of(b);
    d.y_scale = static_cast<float>(attrs.scale);
    if (attrs.requantization == Requantization::floating) return;
    const double twice = 2.0 * static_cast<double>(std::max(d.a_scale, d.b_scale));
    d.a_factor = kernel_factor(static_cast<double>(d.a_scale) / twice);
    d.b_factor = kernel_factor(static_cast<double>(d.b_scale) / twice);
    d.y_factor = kernel_factor(factor(a, b, attrs.scale));
  }
  // In fixed point three multiplications, which take as long as two results of a layer.
  static ir::DeviceWork device_work(const ir::Params& p) {
    const auto d = p.as<Dims>();
    ir::DeviceWork work;
    if (d.out.fixed_point != 0) work.add(ir::DeviceLoop::plain, 0.0, 2.0 * d.walk.n);
    return work;
  }
  // By the integers: the scale of the input by that of the result.
  static Value gradient(const ir::VjpContext& c, int i, Value g) {
    const Value x = c.input(i);
    const double by = static_cast<double>(scale_of(x.graph().type(x.id()))) /
                      static_cast<double>(c.output().quantization()->scales[0]);
    return g * (i == 0 ? by : sign * by);
  }
};

}  // namespace thimble::ops
