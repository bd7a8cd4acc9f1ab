#include "ops/compare/dims.h"

COMPARE_REF(eq, ==)
COMPARE_REF(ne, !=)
COMPARE_REF(lt, <)
COMPARE_REF(le, <=)
COMPARE_REF(gt, >)
COMPARE_REF(ge, >=)
