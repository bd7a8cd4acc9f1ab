#include "autodiff/type_change.h"

#include <algorithm>

namespace thimble::autodiff {
namespace {

const ir::OpDef& type_change() {
  static const ir::OpDef& change = []() -> const ir::OpDef& {
    const auto ops = ir::all_ops();
    const auto found = std::find_if(ops.begin(), ops.end(),
                                    [](const auto* op) { return op->gradient.to_type != nullptr; });
    if (found == ops.end()) throw Error("autodiff", "no op of the library changes types");
    return **found;
  }();
  return change;
}

}  // namespace

Value with_type(ir::Graph& graph, Value value, DType dtype) {
  if (value.dtype() == dtype) return value;
  return graph.add1(type_change(), type_change().gradient.to_type(dtype), {value});
}

Value copy_of(ir::Graph& graph, Value value) {
  return graph.add1(type_change(), type_change().gradient.to_type(value.dtype()), {value});
}

}  // namespace thimble::autodiff
