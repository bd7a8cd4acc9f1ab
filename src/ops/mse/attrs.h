#pragma once

#include <thimble/ops/mse.h>

#include "ops/common/loss.h"
