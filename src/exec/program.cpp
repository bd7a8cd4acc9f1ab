#include "exec/program.h"

#include <fmt/format.h>

#include <cstring>

#include "exec/compile_cache.h"
#include "passes/passes.h"

namespace thimble::exec {
namespace {

std::shared_ptr<const plan::Fitted> prepared(const ir::Graph& graph,
                                             const CompileOptions& options) {
  const auto make = [&](const CompileCache::Rates& rates) -> plan::Fitted {
    ir::verify(graph);
    const plan::ArenaOptions arena{options.threads, options.fast, options.optimize};
    if (!options.optimize) return {graph, plan::plan_arena(graph, arena), {}, {}};
    plan::Budget budget = options.budget;
    budget.rates = rates;
    return plan::fit(passes::optimize(graph), arena, budget);
  };
  return compile_cache().get(content_hash(graph, options), options.budget.rates, make);
}

}  // namespace

Program::Program(const ir::Graph& graph, const CompileOptions& options)
    : options_(options), step_(prepared(graph, options)) {
  const ir::Graph& step = step_->graph;
  for (const ir::Node& node : step.nodes) {
    if (node.op->ref == nullptr) throw Error(node.op->name, "has no kernel to run");
    params_.push_back(plan::kernel_params(step, node));
  }
  int64_t bytes = 0;
  for (const ir::ValueData& data : step.values) {
    constant_offsets_.push_back(bytes);
    if (data.role != ir::Role::constant) continue;
    const int64_t size = size_bytes(data.type.dtype, data.type.shape);
    bytes += plan::aligned(size);
  }
  constants_ = Block(bytes);
  for (size_t id = 0; id < step.values.size(); ++id) {
    const std::vector<float>& data = step.values[id].data;
    if (step.values[id].role != ir::Role::constant || data.empty()) continue;
    std::memcpy(constants_.data() + constant_offsets_[id], data.data(),
                data.size() * sizeof(float));
  }
}

}  // namespace thimble::exec
