#include "ops/families/binary/binary_dims.h"

BINARY_REF(sub, a - b)
