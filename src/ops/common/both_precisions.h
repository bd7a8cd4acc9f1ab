// Included once in an op.cpp, after
//   #define THIMBLE_REF "ops/<op>/ref.h"
// it brings in the reference kernels as thimble::ops::f32::<op>_ref and, for gradient checks,
// thimble::ops::f64::<op>_ref.
#pragma once

#include "ops/common/ref.h"

namespace thimble::ops {
namespace {
namespace f32 {
using real = float;
#include THIMBLE_REF
}  // namespace f32
namespace f64 {
using real = double;
#include THIMBLE_REF
}  // namespace f64
}  // namespace
}  // namespace thimble::ops
