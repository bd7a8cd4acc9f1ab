#pragma once

#include <thimble/graph.h>

namespace thimble {

struct PositionalEncodingOptions {
  double base = 10000.0;  // column pair i has the rate base^(-2i / D)
  int64_t offset = 0;     // of the first position
};

// x plus its positions: y[n, t, 2i] = x + sin((t + offset) rate_i), y[n, t, 2i + 1] = x +
// cos((t + offset) rate_i). x: [N, T, D], f32; y: the shape of x. Adds one table of T * D constants
// that equal layers share. Source: Vaswani et al., "Attention is all you need", 2017.
// Errors: Error where x has not 3 dimensions.
Value positional_encoding(Value x, const PositionalEncodingOptions& options = {});

}  // namespace thimble
