/* What a C file includes before the ref.h of an op: the types `real` and `wide`, and C99's math
   under its generic names, for float, from families/math. It is float unless THIMBLE_REAL, the type
   of an element, and THIMBLE_WIDE, of a sum, are defined; for integers THIMBLE_OF_INTEGERS is, too
   (families/builder/both_precisions.h). One type a file. Plain C99; <math.h> must not be included.
 */
#ifndef THIMBLE_OPS_KERNEL_REF_C_H_
#define THIMBLE_OPS_KERNEL_REF_C_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ops/families/math/math.h"

#ifndef THIMBLE_REAL
#define THIMBLE_REAL float
#define THIMBLE_WIDE float
#endif

typedef THIMBLE_REAL real;
typedef THIMBLE_WIDE wide;

#define NAN math_nan()
#define INFINITY math_infinity(0)

#define acos(x) math_acos(x)
#define acosh(x) math_acosh(x)
#define asin(x) math_asin(x)
#define asinh(x) math_asinh(x)
#define atan(x) math_atan(x)
#define atan2(a, b) math_atan2(a, b)
#define atanh(x) math_atanh(x)
#define ceil(x) math_ceil(x)
#define cos(x) math_cos(x)
#define cosh(x) math_cosh(x)
#define erf(x) math_erf(x)
#define erfc(x) math_erfc(x)
#define exp(x) math_exp(x)
#define exp2(x) math_exp2(x)
#define expm1(x) math_expm1(x)
#define fabs(x) math_fabs(x)
#define floor(x) math_floor(x)
#define fmax(a, b) math_fmax(a, b)
#define fmin(a, b) math_fmin(a, b)
#define fmod(a, b) math_fmod(a, b)
#define log(x) math_log(x)
#define log10(x) math_log10(x)
#define log1p(x) math_log1p(x)
#define log2(x) math_log2(x)
#define pow(a, b) math_pow(a, b)
#define rint(x) math_rint(x)
#define sin(x) math_sin(x)
#define sinh(x) math_sinh(x)
#define sqrt(x) math_sqrt(x)
#define tan(x) math_tan(x)
#define tanh(x) math_tanh(x)
#define trunc(x) math_trunc(x)

#endif
