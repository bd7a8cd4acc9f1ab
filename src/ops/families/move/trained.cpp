#include "ops/families/move/trained.h"

#include <thimble/ops/index_select.h>

#include "ir/graph.h"

namespace thimble::ops {

Value trained_slices(Value x, int axis, Value weight, int weight_axis) {
  ir::Graph& graph = x.graph();
  const ir::TrainedPart& part = graph.data(weight.id()).trained_part;
  if (part.indices.empty() || part.axis != weight_axis) return x;
  return index_select(x, ir::trained_indices(graph, weight.id()), {.axis = axis});
}

}  // namespace thimble::ops
