#include "ops/families/extremum/extremum_ref.h"

EXTREMUM_REF(min, <)
