#include <fmt/format.h>

#include "ir/graph.h"

namespace thimble::ir {

Shape part_shape(const Shape& shape, const TrainedPart& part) {
  if (part.indices.empty()) return shape;
  std::vector<int64_t> dims = shape.dims();
  dims[static_cast<size_t>(part.axis)] = static_cast<int64_t>(part.indices.size());
  return Shape(std::move(dims));
}

Value trained_indices(Graph& graph, int id) {
  const ValueData& data = graph.data(id);
  const TrainedPart& part = data.trained_part;
  return graph.own_constant(fmt::format("@trained_of_{}", data.name), [&part] {
    const std::vector<int32_t> indices(part.indices.begin(), part.indices.end());
    return Array(indices, {static_cast<int64_t>(indices.size())});
  });
}

}  // namespace thimble::ir
