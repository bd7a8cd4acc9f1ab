#include "autodiff/trained_slices.h"

#include <algorithm>

namespace thimble::autodiff {
namespace {

const ir::OpDef& slicing() {
  static const ir::OpDef& op = []() -> const ir::OpDef& {
    const auto ops = ir::all_ops();
    const auto found = std::find_if(ops.begin(), ops.end(), [](const auto* each) {
      return each->gradient.to_slices != nullptr;
    });
    if (found == ops.end()) throw Error("autodiff", "no op of the library takes slices");
    return **found;
  }();
  return op;
}

}  // namespace

Value trained_slices(ir::Graph& graph, Value whole, int param) {
  const int axis = graph.data(param).trained_part->axis;
  return graph.add1(slicing(), slicing().gradient.to_slices(axis),
                    {whole, ir::trained_indices(graph, param)});
}

}  // namespace thimble::autodiff
