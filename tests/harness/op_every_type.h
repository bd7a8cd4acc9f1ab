// The check of an op's nodes with every element type in the place of their own.
#pragma once

#include <string>

#include "harness/op_cases.h"

namespace thimble::test {

// For every node of the case and of its gradient: each type in the place of all its f32 inputs, and
// in the place of each input alone, is either refused with an Error that names the op and the types
// it got, or computed: the reference kernel gives what the usual types give for the same numbers,
// bit for bit (integers wrapped, f16 and bf16 rounded once), and the fast kernel agrees.
std::string check_every_type(const ir::OpDef& op, const OpCase& test);

}  // namespace thimble::test
