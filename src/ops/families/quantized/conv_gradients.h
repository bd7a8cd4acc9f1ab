// Gradients of quantized convolutions and dense layers, which read int8 weights and activations as
// they are stored.
#pragma once

#include <thimble/graph.h>
#include <thimble/ops/conv2d_input_grad.h>
#include <thimble/ops/conv2d_weight_grad.h>

#include "ir/op_def.h"

namespace thimble::ops {

// conv2d_input_grad of the integers of the weight, with the same bits.
// dy: [N, P, Q, K], f32; weight: [K, kh, kw, C / groups] or [K, C], i8 with zero points of 0;
// returns dx: [N, size.h, size.w, C], f32. Of a depthwise convolution of stride 1 whose image and
// result have one size, dx may lie where dy does.
[[nodiscard]] Value quantized_input_grad(Value dy, Value weight,
                                         const Conv2dInputGradAttrs& attrs = {});

// conv2d_weight_grad of the integers of x less their zero point, with the same bits.
// x: [N, H, W, C], i8 with one scale; dy: [N, P, Q, K], f32;
// returns dw: [K, kernel.h, kernel.w, C / groups], f32.
[[nodiscard]] Value quantized_weight_grad(Value x, Value dy, const Conv2dWeightGradAttrs& attrs);

// The ops of these gradients.
[[nodiscard]] const OpDef& quantized_input_grad_op();
[[nodiscard]] const OpDef& quantized_weight_grad_op();
// The one of depthwise convolutions, whose dx may lie where dy does.
[[nodiscard]] const OpDef& quantized_depthwise_input_grad_op();

}  // namespace thimble::ops
