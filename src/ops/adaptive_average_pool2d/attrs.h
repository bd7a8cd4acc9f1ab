#pragma once

#include <thimble/ops/adaptive_average_pool2d.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AdaptiveAveragePool2dOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the result; 0: as x");
}

struct AdaptiveAveragePool2dGradAttrs {
  Pair input;  // height and width of the pooling's input
};

inline void describe(AdaptiveAveragePool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "height and width of the pooling's input");
}

}  // namespace thimble
