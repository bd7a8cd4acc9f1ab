#pragma once

#include <thimble/ops/nearest_centroid.h>

#include "ir/function_def.h"

namespace thimble {

inline void describe(NearestCentroidOptions& o, ir::OptionVisitor& v) {
  v.field("classes", o.classes, "must be set");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble
