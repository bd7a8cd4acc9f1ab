// Helpers of builder functions that are composed of other ops.
#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble::ops {

// A number as an f32 constant without dimensions in x's graph; equal numbers share one constant.
Value number(Value x, double value);

// Reduces the terms of a loss by sum or mean, or returns them unreduced.
Value reduce_loss(Value terms, Reduction reduction);

// Throws Error of that op if the shapes differ.
void require_same_shape(const char* op, Value x, Value t);

}  // namespace thimble::ops
