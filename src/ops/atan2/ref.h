#include "ops/families/binary/binary_dims.h"

BINARY_REF(atan2, atan2(a, b))
