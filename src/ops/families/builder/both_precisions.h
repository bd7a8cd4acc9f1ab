// Included in an op.cpp, after
//   #define THIMBLE_OP <op>
// it brings in the folder's ref.h twice, as thimble::ops::<op>_impl::f32::<op>_ref and, for
// gradient checks, thimble::ops::<op>_impl::f64::<op>_ref. Several op.cpp are compiled as one unit:
// no guard.

#include "ops/families/kernel/ref.h"

#define THIMBLE_TEXT_(x) #x
#define THIMBLE_TEXT(x) THIMBLE_TEXT_(x)
// clang-format off
#define THIMBLE_REF THIMBLE_TEXT(ops/THIMBLE_OP/ref.h)
// clang-format on
#define THIMBLE_IMPL_(op) op##_impl
#define THIMBLE_IMPL(op) THIMBLE_IMPL_(op)

namespace thimble::ops::THIMBLE_IMPL(THIMBLE_OP) {
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
}  // namespace thimble::ops::THIMBLE_IMPL(THIMBLE_OP)

#undef THIMBLE_REF
#undef THIMBLE_TEXT_
#undef THIMBLE_TEXT
#undef THIMBLE_IMPL_
#undef THIMBLE_IMPL
#undef THIMBLE_OP
