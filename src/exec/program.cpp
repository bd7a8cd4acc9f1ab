#include "exec/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

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

bool holds(const Block& block, std::span<const std::byte> bytes) {
  return std::equal(bytes.begin(), bytes.end(), block.data());
}

// A constant's contents: a sibling's block where one has the same.
std::shared_ptr<const Block> block_of(const ir::ValueData& value,
                                      const std::vector<const Program*>& siblings) {
  const int64_t size = plan::aligned(size_bytes(value.type.dtype, value.type.shape));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(value.data));
  for (const Program* const sibling : siblings) {
    for (const std::shared_ptr<const Block>& known : sibling->constants()) {
      if (known && known->bytes() == size && !bytes.empty() && holds(*known, bytes)) return known;
    }
  }
  auto block = std::make_shared<Block>(size);
  std::copy(bytes.begin(), bytes.end(), block->data());
  return block;
}

}  // namespace

Program::Program(const ir::Graph& graph, const CompileOptions& options,
                 const std::vector<const Program*>& siblings)
    : options_(options), step_(prepared(graph, options)) {
  const ir::Graph& step = step_->graph;
  for (const ir::Node& node : step.nodes) {
    if (node.op->ref == nullptr) throw Error(node.op->name, "has no kernel to run");
    params_.push_back(plan::kernel_params(step, node));
  }
  constants_.resize(step.values.size());
  for (size_t id = 0; id < step.values.size(); ++id) {
    const ir::ValueData& value = step.values[id];
    if (value.role == ir::Role::constant) constants_[id] = block_of(value, siblings);
  }
}

}  // namespace thimble::exec
