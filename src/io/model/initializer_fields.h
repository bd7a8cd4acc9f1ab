// The fields of an initializer for readers and writers.
#pragma once

#include <thimble/initializer.h>

#include "ir/attrs.h"

namespace thimble::io {

struct InitializerFields {
  Initializer init;
};

inline void describe(InitializerFields& fields, ir::FieldVisitor& v) {
  static constexpr const char* kKinds[] = {"constant",         "uniform",         "normal",
                                           "variance_uniform", "variance_normal", "orthogonal"};
  static constexpr const char* kFans[] = {"in", "out", "average"};
  v.enumeration("kind", fields.init.kind, kKinds, "");
  v.field("a", fields.init.a, "");
  v.field("b", fields.init.b, "");
  v.enumeration("fan", fields.init.fan, kFans, "");
  v.field("zero_row", fields.init.zero_row, "");
}

}  // namespace thimble::io
