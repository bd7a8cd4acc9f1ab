// Volumes [N, D, H, W, C]: what 3-D convolution and pooling share. Their settings are one number
// for all axes, or three for depth, height and width.
#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>
#include <vector>

namespace thimble::ops {

struct Triple {
  int64_t d = 1;
  int64_t h = 1;
  int64_t w = 1;
  [[nodiscard]] Pair plane() const { return {h, w}; }
};

// The numbers of a setting, each of at least `least`. Throws Error naming op and setting.
[[nodiscard]] Triple triple(const char* op, const char* setting, const std::vector<int64_t>& given,
                            int64_t least);

struct VolumePadding {
  int64_t front = 0;
  int64_t back = 0;
  Padding plane;
};
// Of 1, 3 or 6 numbers: front, back, top, bottom, left, right. Throws Error.
[[nodiscard]] VolumePadding volume_padding(const char* op, const std::vector<int64_t>& given);

// Throws Error unless x is [N, D, H, W, C].
void check_volume(const char* op, Value x);

// [N, D, H, W, C] as images [N * D, H, W, C], and the reverse for D = depth.
[[nodiscard]] Value planes_of(Value volume);
[[nodiscard]] Value volume_of(Value planes, int64_t depth);

// Pooling of volumes is pooling of every plane, then along the depth: pooled planes [N * D, P, Q,
// C] as images [N, D, P * Q, C], and the reverse for planes of this shape.
[[nodiscard]] Value columns_of(Value planes, int64_t depth);
[[nodiscard]] Value volume_of_columns(Value columns, const Shape& planes);
// The same with the values of a plane as channels, [N, D, 1, P * Q * C], so that vectors are full
// whatever C; volume_of_columns is the reverse of this, too.
[[nodiscard]] Value lines_of(Value planes, int64_t depth);
// Where maxima stand in volumes of this shape, (depth * H + row) * W + column, i32. planes: the
// places in each plane; columns: those in columns_of(the maxima of the planes).
[[nodiscard]] Value volume_index(Value planes, Value columns, const Shape& volume);

}  // namespace thimble::ops
