// Attributes of quantized_conv2d_rows: those of the convolutions of a chain.
#pragma once

#include <thimble/ops/quantized_conv2d.h>

#include <vector>

#include "ir/attrs.h"

namespace thimble {

struct QuantizedConv2dRowsAttrs {
  // Of each convolution: stride (2), padding (top, bottom, left, right, 1 if automatic), dilation
  // (2), groups, activation, the bits of its scale in f32, zero point, requantization.
  std::vector<int64_t> convolutions;
};
void describe(QuantizedConv2dRowsAttrs& attrs, ir::FieldVisitor& visitor);

}  // namespace thimble

namespace thimble::ops::quantized_conv2d_rows_impl {

[[nodiscard]] QuantizedConv2dRowsAttrs numbers_of(const std::vector<QuantizedConv2dAttrs>& stages);
// Throws Error where the numbers are not those of convolutions.
[[nodiscard]] std::vector<QuantizedConv2dAttrs> stages_of(const QuantizedConv2dRowsAttrs& attrs);

}  // namespace thimble::ops::quantized_conv2d_rows_impl
