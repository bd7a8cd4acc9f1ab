#include "ops/families/binary/binary_dims.h"

BINARY_REF(div, a / b)
