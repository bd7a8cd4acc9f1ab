// The ops that keep values in 16 bits, for those who put them into a graph.
#pragma once

#include "ir/op_def.h"

namespace thimble::ops {

// Whether numbers of this type have 16 bits and a fraction.
[[nodiscard]] bool is_half(DType dtype);

[[nodiscard]] const OpDef& to_half_op();
[[nodiscard]] const OpDef& from_half_op();

}  // namespace thimble::ops
