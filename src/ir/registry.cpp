#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"

namespace thimble::ops {
// Generated from the folders of src/ops.
std::span<const std::span<const ir::OpDef* const>> op_folders();
}  // namespace thimble::ops

namespace thimble::ir {
namespace {

std::vector<const OpDef*> collect() {
  std::vector<const OpDef*> ops;
  for (const auto& folder : ops::op_folders()) ops.insert(ops.end(), folder.begin(), folder.end());
  std::sort(ops.begin(), ops.end(), [](const OpDef* a, const OpDef* b) {
    return std::string_view(a->name) < std::string_view(b->name);
  });
  return ops;
}

}  // namespace

std::span<const OpDef* const> all_ops() {
  static const std::vector<const OpDef*> ops = collect();
  return ops;
}

const OpDef* find_op(std::string_view name) {
  const auto ops = all_ops();
  const auto found = std::lower_bound(
      ops.begin(), ops.end(), name,
      [](const OpDef* op, std::string_view wanted) { return std::string_view(op->name) < wanted; });
  return found != ops.end() && (*found)->name == name ? *found : nullptr;
}

void InferContext::fail(const std::string& message) const {
  std::string got;
  for (const TensorType* type : inputs) {
    got +=
        fmt::format("{}{}", got.empty() ? "" : ", ", type == nullptr ? "none" : to_string(*type));
  }
  const std::string attributes = attrs.text();
  throw Error(op.name, fmt::format("{}; got {}{}{}", message, got.empty() ? "no inputs" : got,
                                   attributes.empty() ? "" : " with ", attributes));
}

void InferContext::require_rank(int i, int rank) const {
  if (shape(i).rank() != rank) {
    fail(fmt::format("expected {} of {} dimensions",
                     op.signature.inputs[static_cast<size_t>(i)].name, rank));
  }
}

}  // namespace thimble::ir
