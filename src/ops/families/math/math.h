/* The mathematics of reference kernels: every function of <math.h> that they use, for float, and
   two for double. Own, and the same bits on every processor; within 0.55 units in the last place
   (tests/math). Results, also those of infinities, NaN and zeros, are those that C99 asks for;
   there are no floating-point flags and no errno. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_MATH_MATH_H_
#define THIMBLE_OPS_MATH_MATH_H_

#include "ops/families/math/double.h"
#include "ops/families/math/erf.h"
#include "ops/families/math/exact.h"
#include "ops/families/math/exp.h"
#include "ops/families/math/log.h"
#include "ops/families/math/trig.h"

#endif
