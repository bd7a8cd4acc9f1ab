// Names that reference kernels use, for C++; include it before them. The math of float is our own
// (families/math), the same bits on every processor; that of double is C's. In C: ref_c.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "ops/families/math/math.h"

// C99's functions of one number and of two.
// clang-format off
#define THIMBLE_MATH(one, two)                                                                    \
  one(acos) one(acosh) one(asin) one(asinh) one(atan) one(atanh) one(ceil) one(cos) one(cosh)     \
  one(erf) one(erfc) one(exp) one(exp2) one(expm1) one(fabs) one(floor) one(log) one(log10)       \
  one(log1p) one(log2) one(rint) one(sin) one(sinh) one(sqrt) one(tan) one(tanh) one(trunc)       \
  two(atan2) two(fmax) two(fmin) two(fmod) two(pow)
// clang-format on

namespace thimble::ops {

// Declared here so that they are found before the library's builders of the same names.
#define THIMBLE_STD(name) using std::name;
THIMBLE_MATH(THIMBLE_STD, THIMBLE_STD)
#undef THIMBLE_STD

// A kernel for float that calls one of these for a double does not compile: C would narrow it.
namespace float_math {
#define THIMBLE_ONE(name)                               \
  inline float name(float x) { return math_##name(x); } \
  double name(double x) = delete;
#define THIMBLE_TWO(name)                                           \
  inline float name(float a, float b) { return math_##name(a, b); } \
  double name(double a, double b) = delete;
THIMBLE_MATH(THIMBLE_ONE, THIMBLE_TWO)
#undef THIMBLE_ONE
#undef THIMBLE_TWO
}  // namespace float_math

}  // namespace thimble::ops

// In a namespace that includes a ref.h for float.
#define THIMBLE_OF_FLOAT(name) using ::thimble::ops::float_math::name;
#define THIMBLE_FLOAT_MATH THIMBLE_MATH(THIMBLE_OF_FLOAT, THIMBLE_OF_FLOAT)
