#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct RotaryEmbeddingOptions {
  bool interleaved = false;  // pairs are neighbours (2i, 2i + 1) instead of (i, i + width / 2)
  double base = 10000.0;     // pair i rotates by base^(-2i / width) radians a position
  int64_t width = 0;         // how many numbers of the last dimension rotate; even; 0: all
  int64_t offset = 0;        // of the first position
};

// Rotary position embedding: every pair of numbers of a query or a key rotates by an angle that
// grows with its position, so that their products depend on distances alone. x: [N, T, ..., D] such
// as [N, T, H, D], f32; positions offset to offset + T - 1; y: the shape of x. With interleaved as
// Su et al. wrote it (and Meta's LLaMA), without as GPT-NeoX and Hugging Face have it. Adds one
// table of T * width constants that equal layers share. Source: Su et al., "RoFormer", 2021.
// Errors: Error where x has fewer than 3 dimensions or the width is odd or beyond D.
Value rotary_embedding(Value x, const RotaryEmbeddingOptions& options = {});

}  // namespace thimble
