// Included in an op.cpp, after
//   #define THIMBLE_OP <op>
// it brings in the folder's ref.h twice, as thimble::ops::<op>_impl::f32::<op>_ref and, for
// gradient checks, thimble::ops::<op>_impl::f64::<op>_ref. After
//   #define THIMBLE_INTEGERS
// it brings it in for integers, too, as i8, i16, i32, i64, u8 and u32: `real` is the type of an
// element and `wide` one of at least 32 bits without sign, in which sums wrap and never overflow
// (elsewhere it is real); THIMBLE_OF_INTEGERS is defined then. Several op.cpp are compiled as one
// unit: no guard.

#include "ops/families/kernel/ref.h"

#define THIMBLE_TEXT_(x) #x
#define THIMBLE_TEXT(x) THIMBLE_TEXT_(x)
// clang-format off
#define THIMBLE_REF THIMBLE_TEXT(ops/THIMBLE_OP/ref.h)
#define THIMBLE_IMPL_(op) op##_impl
#define THIMBLE_IMPL(op) THIMBLE_IMPL_(op)

namespace thimble::ops::THIMBLE_IMPL(THIMBLE_OP) {
  namespace {
  namespace f32 {
  using real = float;
  using wide = float;
  THIMBLE_FLOAT_MATH
#include THIMBLE_REF
  }  // namespace f32
  namespace f64 {
  using real = double;
  using wide = double;
#include THIMBLE_REF
  }  // namespace f64
#ifdef THIMBLE_INTEGERS
#define THIMBLE_OF_INTEGERS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
  namespace i8 {
  using real = int8_t;
  using wide = uint32_t;
#include THIMBLE_REF
  }  // namespace i8
  namespace i16 {
  using real = int16_t;
  using wide = uint32_t;
#include THIMBLE_REF
  }  // namespace i16
  namespace i32 {
  using real = int32_t;
  using wide = uint32_t;
#include THIMBLE_REF
  }  // namespace i32
  namespace i64 {
  using real = int64_t;
  using wide = uint64_t;
#include THIMBLE_REF
  }  // namespace i64
  namespace u8 {
  using real = uint8_t;
  using wide = uint32_t;
#include THIMBLE_REF
  }  // namespace u8
  namespace u32 {
  using real = uint32_t;
  using wide = uint32_t;
#include THIMBLE_REF
  }  // namespace u32
#pragma GCC diagnostic pop
#undef THIMBLE_OF_INTEGERS
#endif
  }  // namespace
}  // namespace thimble::ops::THIMBLE_IMPL(THIMBLE_OP)
// clang-format on

#undef THIMBLE_REF
#undef THIMBLE_TEXT_
#undef THIMBLE_TEXT
#undef THIMBLE_IMPL_
#undef THIMBLE_IMPL
#undef THIMBLE_OP
#undef THIMBLE_INTEGERS
