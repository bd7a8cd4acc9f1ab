#include "exec/program.h"

#include <fmt/format.h>

#include "passes/passes.h"
#include "plan/order.h"

namespace thimble::exec {
namespace {

ir::Graph prepared(const ir::Graph& graph, const CompileOptions& options) {
  ir::verify(graph);
  if (!options.optimize) return graph;
  ir::Graph result = plan::order_nodes(passes::optimize(graph));
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
}

}  // namespace thimble::exec
