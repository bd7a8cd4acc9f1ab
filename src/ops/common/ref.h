// What reference kernels may use, included before they are: C99's math under its generic names.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
