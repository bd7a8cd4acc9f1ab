// What reference kernels may use, included before they are: C99's math under its generic names.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace thimble::ops {

// Found before the library's builders of the same names, for float and double.
using std::cos;
using std::erf;
using std::erfc;
using std::exp;
using std::expm1;
using std::fabs;
using std::fmax;
using std::fmin;
using std::log;
using std::log1p;
using std::pow;
using std::sin;
using std::sqrt;
using std::tanh;

}  // namespace thimble::ops
