// One form for every quantization, so that equal ones compare equal.
#pragma once

#include <thimble/quantization.h>

namespace thimble::ir {

// Without zero points where all are 0. What is invalid stays so.
[[nodiscard]] Quantization canonical(Quantization q);

}  // namespace thimble::ir
