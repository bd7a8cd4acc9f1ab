#pragma once

#include <thimble/ops/pad.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(PadOptions& a, ir::FieldVisitor& v) {
  v.field("before", a.before, "elements before each axis; below 0: cut off");
  v.field("after", a.after, "elements after each axis");
  v.field("value", a.value, "value of added elements in mode constant");
  static constexpr const char* kModes[] = {"constant", "reflect", "replicate", "circular"};
  v.enumeration("mode", a.mode, kModes,
                "added elements: the value, the elements mirrored, the outermost or those of the "
                "other end");
}

}  // namespace thimble
