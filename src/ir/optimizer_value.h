// The value behind a thimble::Optimizer.
#pragma once

#include "ir/op_def.h"

namespace thimble::ir {

struct OptimizerValue {
  const OpDef* op = nullptr;  // with a rule
  Attrs settings;             // of the op's schema, checked by its rule
};

}  // namespace thimble::ir
