#include "ir/function_def.h"

#include <algorithm>

namespace thimble::ops {
// Generated from the folders of src/ops.
std::span<const std::span<const ir::FunctionDef* const>> function_folders();
}  // namespace thimble::ops

namespace thimble::ir {
namespace {

std::vector<const FunctionDef*> collect_functions() {
  std::vector<const FunctionDef*> functions;
  for (const auto& folder : ops::function_folders()) {
    functions.insert(functions.end(), folder.begin(), folder.end());
  }
  std::sort(functions.begin(), functions.end(), [](const FunctionDef* a, const FunctionDef* b) {
    return std::string_view(a->name) < std::string_view(b->name);
  });
  return functions;
}

}  // namespace

std::span<const FunctionDef* const> all_functions() {
  static const std::vector<const FunctionDef*> functions = collect_functions();
  return functions;
}

const FunctionDef* find_function(std::string_view name) {
  const auto functions = all_functions();
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const FunctionDef* f) { return name == f->name; });
  return found == functions.end() ? nullptr : *found;
}

std::vector<std::vector<TypeSet>> type_rows(const FunctionDef& function) {
  const OpDef* const op = find_op(function.name);
  const auto of_op = op == nullptr ? std::vector(1, std::vector<TypeSet>()) : type_rows(*op);
  std::vector<std::vector<TypeSet>> rows;
  for (const std::vector<TypeSet>& given : of_op) {
    std::vector<TypeSet> row;
    for (const ArgDoc& input : function.inputs) {
      TypeSet types = input.types.empty() ? kFloatingTypes : input.types;
      for (size_t i = 0; i < given.size() && input.types.empty(); ++i) {
        if (std::string_view(op->signature.inputs[i].name) == input.name) types = given[i];
      }
      row.push_back(types);
    }
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
  }
  return rows;
}

bool is_for_users(const OpDef& op) {
  return op.signature.example[0] != '\0' && op.memory.updates.empty();
}

}  // namespace thimble::ir
