#include "plan/work.h"

#include <algorithm>

#include "plan/arena.h"

namespace thimble::plan {

double flops_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.tiled) {
    const auto flops = node.tiled->op->kernels.flops;
    return flops == nullptr ? 0.0 : flops(gradient_params(graph, node));
  }
  if (node.op->kernels.flops == nullptr) return 0.0;
  return ir::kernels_of(graph, node).flops(kernel_params(graph, node));
}

double fast_flops_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.tiled) {
    const auto flops = node.tiled->op->kernels.fast_flops;
    return flops == nullptr ? flops_of(graph, node) : flops(gradient_params(graph, node));
  }
  if (node.op->kernels.flops == nullptr) return 0.0;
  return ir::kernels_of(graph, node).fast_flops(kernel_params(graph, node));
}

int64_t made_bytes(const ir::Graph& graph, const ir::Node& node) {
  int64_t bytes = 0;
  for (const int id : node.outputs) bytes += size_bytes(graph.type(id).dtype, graph.type(id).shape);
  return bytes;
}

bool is_view(const ir::Graph& graph, const ir::Node& node) {
  const std::vector<ir::Alias>& views = node.op->memory.views;
  return !views.empty() && std::none_of(views.begin(), views.end(), [&](const ir::Alias& view) {
    const int input = node.input(view.in);
    return input < 0 || ir::is_persistent(graph.data(input).role);
  });
}

int64_t bytes_of(const ir::Graph& graph, const ir::Node& node) {
  if (is_view(graph, node)) return 0;
  int64_t bytes = made_bytes(graph, node);
  for (const int id : node.inputs) {
    if (id >= 0) bytes += size_bytes(graph.type(id).dtype, graph.type(id).shape);
  }
  return bytes;
}

double work_of(const ir::Graph& graph, const ir::Node& node) {
  return flops_of(graph, node) + kOperationsPerByte * static_cast<double>(bytes_of(graph, node));
}

double work_of(const ir::Graph& graph) {
  double sum = 0.0;
  for (const ir::Node& node : graph.nodes) sum += work_of(graph, node);
  return sum;
}

}  // namespace thimble::plan
