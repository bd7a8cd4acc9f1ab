#include "ops/families/quantized/table.h"

#include <cmath>

namespace thimble::ops {

quantized_table_dims quantized_table(double (*f)(double), const ir::TensorType& x,
                                     const QuantizedResult& result, int64_t n) {
  quantized_table_dims d{.n = static_cast<int>(n), .results = {}, .inside = {}};
  const quantized_result out = kernel_result(result);
  const auto scale = static_cast<float>(result.scale);
  // Far beyond the ends of int8, and exact as f32.
  constexpr float kBeyond = 1024.0F;
  for (int i = 0; i < 256; ++i) {
    const float real = scale_of(x) * static_cast<float>(i - 128 - zero_point_of(x));
    const auto value = static_cast<float>(f(static_cast<double>(real)));
    const float steps = out.fixed_point != 0 ? value * (1.0F / scale) : value / scale;
    const float bounded = std::fmin(std::fmax(steps, -kBeyond), kBeyond);
    const float nearest = out.fixed_point != 0 ? std::round(bounded) : std::nearbyint(bounded);
    const int64_t unbounded = static_cast<int64_t>(nearest) + out.zero_point;
    d.results[i] = quantized_clamp(unbounded, &out);
    quantized_add_bit(d.inside, i, quantized_inside(unbounded, &out));
  }
  return d;
}

}  // namespace thimble::ops
