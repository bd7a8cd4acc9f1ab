#pragma once

#include <thimble/ops/binary_cross_entropy_with_logits.h>

#include "ops/families/loss/loss.h"
