#include "exec/program.h"

#include <fmt/format.h>

#include <cstring>

#include "passes/passes.h"
#include "plan/order.h"
#include "plan/recompute.h"

namespace thimble::exec {
namespace {

ir::Graph prepared(const ir::Graph& graph, const CompileOptions& options) {
  ir::verify(graph);
  if (!options.optimize) return graph;
  ir::Graph result = plan::fit_arena(plan::order_nodes(passes::optimize(graph)),
                                     {options.threads, options.fast}, options.arena_budget);
  ir::verify(result);
  return result;
}

}  // namespace

Program::Program(const ir::Graph& graph, const CompileOptions& options)
    : options_(options),
      graph_(prepared(graph, options)),
      arena_(plan::plan_arena(graph_, {options.threads, options.fast, options.optimize})) {
  for (const ir::Node& node : graph_.nodes) {
    if (node.op->ref == nullptr) throw Error(node.op->name, "has no kernel to run");
    params_.push_back(plan::kernel_params(graph_, node));
  }
  int64_t bytes = 0;
  for (const ir::ValueData& data : graph_.values) {
    constant_offsets_.push_back(bytes);
    if (data.role != ir::Role::constant) continue;
    const int64_t size = size_bytes(data.type.dtype, data.type.shape);
    bytes += plan::aligned(size);
  }
  constants_ = Block(bytes);
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    const std::vector<float>& data = graph_.values[id].data;
    if (graph_.values[id].role != ir::Role::constant || data.empty()) continue;
    std::memcpy(constants_.data() + constant_offsets_[id], data.data(),
                data.size() * sizeof(float));
  }
}

}  // namespace thimble::exec
