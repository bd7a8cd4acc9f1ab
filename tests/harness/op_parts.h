// Checks of ops whose output can be computed tile by tile.
#pragma once

#include <string>
#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// For the op and every op of its gradient that computes rows of its output alone (ir::PartRule):
// every part has the bits of these rows of the whole, by the reference and by the fast kernel of
// each compiled vector target, on 1 and 4 threads.
std::string check_parts(const ir::OpDef& op, const OpCase& test);

// Names of the ops among them whose output has several parts.
std::vector<std::string> ops_of_several_parts(const ir::OpDef& op, const OpCase& test);

// A rule of single elements (ir::OptimizerRule::elementwise) gives the same bits when applied to
// two halves.
std::string check_halves(const ir::OpDef& op, const OpCase& test);

}  // namespace thimble::test
