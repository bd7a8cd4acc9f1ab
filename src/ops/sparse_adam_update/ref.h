#include "ops/common/adam_ref.h"
