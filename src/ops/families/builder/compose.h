// Shared by builder functions that are composed of other ops.
#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble::ops {

// A number as a constant of x's graph, f32, without dimensions; one constant for each number.
Value number(Value x, double value);

// The terms of a loss as one number, or as they are.
Value reduce_loss(Value terms, Reduction reduction);

// Throws Error of that op unless the shapes are equal.
void require_same_shape(const char* op, Value x, Value t);

}  // namespace thimble::ops
