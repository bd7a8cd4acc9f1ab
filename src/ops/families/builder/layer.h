// Parameters of layers.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "ir/graph.h"

namespace thimble::ops {

// The initializer of a bias: U(-1/sqrt(fan_in), 1/sqrt(fan_in)) unless another one is given, as
// PyTorch initializes dense and convolution layers.
inline Initializer bias_rule(const std::optional<Initializer>& given, int64_t fan_in) {
  if (given) return *given;
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  return init::uniform(-bound, bound);
}

// The f32 parameter "<layer>.<name>".
inline Value layer_parameter(const ir::LayerScope& layer, Value x, const char* name, Shape shape,
                             const Initializer& init) {
  return x.graph().source(layer.name() + "." + name, {DType::f32, std::move(shape)},
                          ir::Role::parameter, init);
}

}  // namespace thimble::ops
