// The equations of einsum, parsed.
#pragma once

#include <string>
#include <vector>

namespace thimble::ops {

// A label for each axis: a letter, or for axes of "..." a number counted from the last axis, which
// is 1. An operand may repeat a letter, which means its diagonal.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// ranks: of the operands. Throws Error that says what does not match.
Equation parse_equation(const std::string& text, const std::vector<int>& ranks);

}  // namespace thimble::ops
