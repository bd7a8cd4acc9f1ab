// Whether a program may run: every address within its memory, every value read as it was written.
#pragma once

#include <string>

#include "program/program.h"

namespace thimble::program {

// The error of a program; empty: none. Looks at numbers of tensors and slots, at types, offsets
// and sizes of workspaces, at names, of which each may stand once, and plays the step: what a call
// reads must lie there whole since it was written, and nothing may be written over while a call
// uses it, but where the op allows it. What a transfer moves must be left alone until it was
// awaited, and all transfers must be.
[[nodiscard]] std::string error_of(const Program& program);

}  // namespace thimble::program
