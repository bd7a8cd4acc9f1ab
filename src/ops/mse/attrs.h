#pragma once

#include <thimble/ops/mse.h>

#include "ops/families/loss/loss.h"
