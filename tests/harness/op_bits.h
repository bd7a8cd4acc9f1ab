// Hashes of what is computed, to compare between processors.
#pragma once

#include <cstdio>

namespace thimble::test {

// One line of text per kernel of every node of every op's cases, forward and gradient:
//   <op>.<case>/<node>:<op of the node> <kernel> <hash of the inputs> <hash of the outputs>
// The kernel is "reference" or the vector target of the fast one. The inputs are what reference
// kernels computed before, so that kernels are to be compared where the inputs are the same. Then
// the same for what is no op: initial values, orders of samples, built-in samples and plans.
// A NaN counts as a NaN, whatever its bits: the C standard leaves them open.
void print_bits(std::FILE* out);

}  // namespace thimble::test
