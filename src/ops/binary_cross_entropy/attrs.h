#pragma once

#include <thimble/ops/binary_cross_entropy.h>

#include "ops/families/loss/loss.h"
