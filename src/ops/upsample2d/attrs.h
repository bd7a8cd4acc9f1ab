// The attributes of upsample2d, as generic code sees them.
#pragma once

#include <thimble/ops/upsample2d.h>

#include "ir/attrs.h"

namespace thimble {

inline constexpr const char* kUpsamplings[] = {"nearest", "nearest_exact", "bilinear", "bicubic"};

inline void describe(Upsample2dOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the result; 0: found from scale");
  v.field("scale", a.scale, "of height and width; 0: result / input");
  v.field("scale_w", a.scale_w, "of the width, where it differs");
  v.enumeration("mode", a.mode, kUpsamplings, "how pixels are found");
  v.field("align_corners", a.align_corners,
          "of bilinear and bicubic: the corners' middles stay in place");
}

struct Upsample2dGradAttrs {
  Pair input;  // height and width of upsample2d's input
  Upsample2dOptions options;
};

inline void describe(Upsample2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "height and width of upsample2d's input");
  describe(a.options, v);
}

}  // namespace thimble
