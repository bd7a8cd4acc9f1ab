#include "autodiff/stored_error.h"

#include <algorithm>
#include <vector>

namespace thimble::autodiff {
namespace {

const ir::OpDef& storing_op() {
  static const ir::OpDef& op = []() -> const ir::OpDef& {
    const auto ops = ir::all_ops();
    const auto found = std::find_if(ops.begin(), ops.end(), [](const auto* each) {
      return each->gradient.stored_error != nullptr;
    });
    if (found == ops.end()) throw Error("autodiff", "no op of the library stores gradients");
    return **found;
  }();
  return op;
}

}  // namespace

StoredError stored_error(ir::Graph& graph, Value gradient) {
  return graph.add(storing_op(), {}, {&gradient, 1});
}

StoredError stored_sum(ir::Graph& graph, const StoredError& stored, Value gradient) {
  std::vector<Value> inputs{gradient};
  inputs.insert(inputs.end(), stored.begin(), stored.end());
  return stored_error(graph, graph.add(*storing_op().gradient.stored_error->add, {}, inputs)[0]);
}

Value loaded_error(ir::Graph& graph, const StoredError& stored) {
  return graph.add(*storing_op().gradient.stored_error->load, {}, stored)[0];
}

}  // namespace thimble::autodiff
