#pragma once

#include <thimble/ops/mae.h>

#include "ops/common/loss.h"
