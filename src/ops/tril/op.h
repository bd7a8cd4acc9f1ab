#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct TriangleOptions {
  int64_t diagonal =
      0;  // the diagonal that bounds the triangle: 0 the main one, above 0 those above it
};
void describe(TriangleOptions& options, ir::FieldVisitor& visitor);

// The lower triangle of every matrix of the last two axes: y[.., i, j] = x[.., i, j] where
// j - i <= diagonal, else 0. x: any type, at least two dimensions; y: the shape of
// x. Equal to torch.tril. Throws Error for fewer dimensions.
Value tril(Value x, const TriangleOptions& options = {});

// The upper triangle: j - i >= diagonal. Equal to torch.triu.
Value triu(Value x, const TriangleOptions& options = {});

}  // namespace thimble
