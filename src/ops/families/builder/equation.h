// The equations of einsum, parsed.
#pragma once

#include <string>
#include <vector>

namespace thimble::ops {

// One character an axis: a letter, or for the axes of "..." numbers from 1 at the last. An operand
// may have a letter twice, for its diagonal.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// ranks: of the operands. Throws Error naming what does not fit.
Equation parse_equation(const std::string& text, const std::vector<int>& ranks);

}  // namespace thimble::ops
