#include "ops/families/extremum/extremum_ref.h"

EXTREMUM_PLACE_REF(argmax, >)
