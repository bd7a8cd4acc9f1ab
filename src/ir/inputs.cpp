#include "ir/inputs.h"

#include <fmt/format.h>

#include <algorithm>

namespace thimble::ir {

std::string inputs_error(const OpDef& op, std::span<const TensorType* const> inputs) {
  const std::vector<ArgDoc>& declared = op.signature.inputs;
  if (inputs.size() > declared.size() && !op.signature.variadic_inputs) {
    return fmt::format("takes at most {} inputs, got {}", declared.size(), inputs.size());
  }
  if (declared.empty()) return "";
  for (size_t i = 0; i < std::max(inputs.size(), declared.size()); ++i) {
    const ArgDoc& input = declared[std::min(i, declared.size() - 1)];
    if (input.optional || (i < inputs.size() && inputs[i] != nullptr)) continue;
    return fmt::format("input {} ({}) is missing", i, input.name);
  }
  return "";
}

}  // namespace thimble::ir
