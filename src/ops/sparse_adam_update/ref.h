#include "ops/families/update/adam_ref.h"
