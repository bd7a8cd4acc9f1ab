#include "ops/families/builder/equation.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <map>

namespace thimble::ops {
namespace {

[[noreturn]] void fail(const std::string& equation, const std::string& message) {
  throw Error("einsum", fmt::format("\"{}\": {}", equation, message));
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Labels of that many axes of "...". The last label is 1 in all operands.
std::string dots(int count) {
  std::string labels;
  for (int i = count; i >= 1; --i) labels += static_cast<char>(i);
  return labels;
}

// Parses one operand, or the result. `rest`: gives the number of axes of "..." from the number of
// letters.
template <class Rest>
std::string labels_of(const std::string& equation, const std::string& term, bool repeats,
                      const Rest& rest) {
  const size_t at = term.find("...");
  std::string letters = term;
  if (at != std::string::npos) letters.erase(at, 3);
  for (size_t i = 0; i < letters.size(); ++i) {
    if (!is_letter(letters[i])) fail(equation, fmt::format("'{}' is no axis", letters[i]));
    if (!repeats && letters.find(letters[i], i + 1) != std::string::npos) {
      fail(equation, fmt::format("axis {} occurs twice in the result", letters[i]));
    }
  }
  const std::string inner = dots(rest(static_cast<int>(letters.size()), at != std::string::npos));
  if (at != std::string::npos) letters.insert(at, inner);
  return letters;
}

// The result of an equation without "->": the axes of "...", then the letters that occur once,
// sorted.
std::string implied(const std::vector<std::string>& operands, int most_dots) {
  std::map<char, int> counts;
  for (const std::string& operand : operands) {
    for (const char label : operand) ++counts[label];
  }
  std::string result = dots(most_dots);
  for (const auto& [label, count] : counts) {
    if (is_letter(label) && count == 1) result += label;
  }
  return result;
}

}  // namespace

Equation parse_equation(const std::string& text, const std::vector<int>& ranks) {
  std::string plain = text;
  plain.erase(std::remove(plain.begin(), plain.end(), ' '), plain.end());
  const size_t arrow = plain.find("->");
  std::string left = plain.substr(0, arrow);
  std::vector<std::string> terms;
  for (size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
    terms.push_back(left.substr(0, comma));
    left.erase(0, comma + 1);
  }
  terms.push_back(left);
  if (terms.size() != ranks.size()) {
    fail(text, fmt::format("speaks of {} operands, got {}", terms.size(), ranks.size()));
  }
  Equation equation;
  int most_dots = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    equation.operands.push_back(labels_of(text, terms[i], true, [&](int letters, bool has_dots) {
      const int rest = ranks[i] - letters;
      if (rest < 0 || (rest > 0 && !has_dots)) {
        fail(text, fmt::format("operand {} has {} dimensions", i + 1, ranks[i]));
      }
      most_dots = std::max(most_dots, rest);
      return rest;
    }));
  }
  if (arrow == std::string::npos) {
    equation.result = implied(equation.operands, most_dots);
    return equation;
  }
  equation.result = labels_of(text, plain.substr(arrow + 2), false,
                              [&](int, bool has_dots) { return has_dots ? most_dots : 0; });
  for (const char label : equation.result) {
    const bool known = std::any_of(
        equation.operands.begin(), equation.operands.end(),
        [&](const std::string& operand) { return operand.find(label) != std::string::npos; });
    if (!known) fail(text, fmt::format("axis {} is in no operand", label));
  }
  return equation;
}

}  // namespace thimble::ops
