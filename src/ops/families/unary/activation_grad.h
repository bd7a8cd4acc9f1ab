// For ops that apply an activation to the result they store.
#pragma once

#include <thimble/attributes.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/relu6.h>

#include "ir/op_def.h"
#include "ops/families/unary/select_gradient.h"
#include "simd/activation.h"

namespace thimble::ops {

inline int kernel_activation_of(Activation activation) {
  switch (activation) {
    case Activation::none:
      return KERNEL_ACTIVATION_NONE;
    case Activation::relu:
      return KERNEL_ACTIVATION_RELU;
    case Activation::relu6:
      return KERNEL_ACTIVATION_RELU6;
  }
  return KERNEL_ACTIVATION_NONE;
}

// The gradient before the activation, from the gradient after it and the op's output.
inline Value activation_grad(Activation activation, Value dy, Value y) {
  switch (activation) {
    case Activation::none:
      return dy;
    case Activation::relu:
      return select_gradient(dy, y, relu_grad);
    case Activation::relu6:
      return select_gradient(dy, y, relu6_grad);
  }
  return dy;
}

// The rule RewriteRule::fuse_activation for attributes with a field `activation`.
template <class T>
ir::Attrs fuse_activation(const ir::Attrs& attrs, Activation activation) {
  T fused = attrs.as<T>();
  if (fused.activation != Activation::none) return {};
  fused.activation = activation;
  return ir::Attrs::of(std::move(fused));
}

}  // namespace thimble::ops
