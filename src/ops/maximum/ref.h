#include "ops/families/extremum/extremum_ref.h"

EXTREMUM_OF_TWO_REF(maximum, >)
