// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/instance_norm.h>

#include "ir/attrs.h"

namespace thimble::ops {

struct InstanceNormUpdateAttrs {
  double momentum = 0.1;
  int64_t values = 2;  // number of values from which each statistic was computed
};

inline void describe(InstanceNormUpdateAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of the batch in the running statistics");
  v.field("values", a.values, "values that each statistic was computed from");
}

}  // namespace thimble::ops
