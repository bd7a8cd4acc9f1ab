#pragma once

#include <thimble/ops/mae.h>

#include "ops/families/loss/loss.h"
