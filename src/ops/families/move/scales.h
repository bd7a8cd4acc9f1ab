// Rules of ops that take integers, about their scales.
#pragma once

#include "ops/families/move/copy.h"

namespace thimble::ops {

// Fails unless inputs i and j have the same quantization, or neither has one.
inline void require_same_quantization(const ir::InferContext& c, int i, int j) {
  const auto& a = c.input(i).quantization;
  const auto& b = c.input(j).quantization;
  c.require((a == nullptr) == (b == nullptr),
            "one input has a scale and the other has none; quantize or dequantize one of them");
  c.require(a == b || *a == *b,
            "expected inputs of one scale and zero point; requantize them first");
}

// Fails if an input has scales along an axis, for ops that compare elements of different places.
inline void require_one_scale(const ir::InferContext& c, int i) {
  const auto& q = c.input(i).quantization;
  c.require(q == nullptr || !q->axis,
            "cannot compare elements that have scales along an axis; dequantize them before");
}

// Fails if an input has a quantization, for ops that compute with integers as plain numbers.
inline void require_plain_numbers(const ir::InferContext& c) {
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    c.require(!c.has(i) || c.input(i).quantization == nullptr,
              "computes with plain numbers, but an input has a scale; dequantize it, or "
              "cast it to i32 for the integers alone");
  }
}

}  // namespace thimble::ops
