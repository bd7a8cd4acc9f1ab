#include "exec/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "exec/compile_cache.h"
#include "passes/passes.h"
#include "program/build.h"

namespace thimble::exec {
namespace {

using Constants = std::vector<std::shared_ptr<const Block>>;

bool holds(const Block& block, std::span<const std::byte> bytes) {
  return std::equal(bytes.begin(), bytes.end(), block.data());
}

// A block of equal contents that a program already holds; null: none.
std::shared_ptr<const Block> known_block(const std::vector<const Constants*>& known,
                                         std::span<const std::byte> bytes) {
  const int64_t size = plan::aligned(static_cast<int64_t>(bytes.size()));
  for (const Constants* const constants : known) {
    for (const std::shared_ptr<const Block>& block : *constants) {
      if (block && block->bytes() == size && !bytes.empty() && holds(*block, bytes)) return block;
    }
  }
  return nullptr;
}

std::shared_ptr<const Block> block_of(const ir::TensorType& type,
                                      std::span<const std::byte> contents,
                                      const std::vector<const Constants*>& known) {
  if (auto block = known_block(known, contents)) return block;
  auto block = std::make_shared<Block>(plan::aligned(size_bytes(type.dtype, type.shape)));
  std::copy(contents.begin(), contents.end(), block->data());
  return block;
}

// Moves the contents of constants out of a graph, so that the compiled graph does not hold them
// beside their blocks.
class Contents {
 public:
  explicit Contents(ir::Graph& graph) {
    for (ir::ValueData& value : graph.values) {
      if (value.role == ir::Role::constant) by_name_[value.name] = std::exchange(value.data, {});
    }
  }

  // The contents as blocks, by the values of the compiled graph. What a program holds is counted in
  // its account; the cache may hold them longer.
  [[nodiscard]] Constants blocks(const ir::Graph& graph,
                                 const std::vector<const Constants*>& known) const {
    const Counting nowhere(nullptr);
    Constants blocks(graph.values.size());
    for (size_t id = 0; id < blocks.size(); ++id) {
      const ir::ValueData& value = graph.values[id];
      if (value.role != ir::Role::constant) continue;
      blocks[id] = block_of(value.type, by_name_.at(value.name)->bytes(), known);
    }
    return blocks;
  }

 private:
  std::map<std::string, ir::Shared<Array>> by_name_;
};

// Frees spare capacity of vectors that no longer grow.
void shrink(plan::Fitted& step) {
  step.graph.nodes.shrink_to_fit();
  step.arena.plan.buffers.shrink_to_fit();
  step.arena.plan.steps.shrink_to_fit();
}

// Asks for the swap rates through the cache.
class CachedDevice final : public plan::SwapDevice {
 public:
  explicit CachedDevice(CompileCache::Rates rates) : rates_(std::move(rates)) {}
  plan::SwapRates rates() override { return rates_(); }

 private:
  CompileCache::Rates rates_;
};

// A block that is counted in the account of the program that uses it.
struct Counted {
  Held held;
  std::shared_ptr<const Block> block;
};

std::shared_ptr<const std::byte> counted(const std::shared_ptr<const Block>& block) {
  auto both = std::make_shared<const Counted>(Counted{Held(block->bytes()), block});
  return {both, both->block->data()};
}

// A sibling's constant of these contents; null: none has one.
std::shared_ptr<const std::byte> contents_of_sibling(const std::vector<const Program*>& siblings,
                                                     std::span<const std::byte> bytes) {
  if (bytes.empty()) return nullptr;
  for (const Program* const sibling : siblings) {
    const program::Program& known = sibling->data();
    for (const program::Tensor& tensor : known.tensors) {
      if (tensor.place != program::Place::constant) continue;
      if (plan::aligned(tensor.bytes()) != plan::aligned(static_cast<int64_t>(bytes.size())))
        continue;
      const auto& contents = known.constants[static_cast<size_t>(tensor.at)];
      if (std::equal(bytes.begin(), bytes.end(), contents.get())) return contents;
    }
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<const Compiled> Program::compile(ir::Graph graph, const CompileOptions& options,
                                                 const std::vector<const Program*>& siblings) {
  const std::string key = content_hash(graph, options);
  const auto make = [&](const CompileCache::Rates& rates) -> Compiled {
    ir::verify(graph);
    std::vector<const Constants*> known;
    for (const Program* const sibling : siblings) known.push_back(&sibling->compiled_->constants);
    const plan::ArenaOptions arena{options.threads, options.fast, options.optimize,
                                   options.prepared};
    ir::Graph step = options.optimize ? passes::optimize(graph) : std::move(graph);
    graph = {};  // frees memory before planning needs it
    const Contents contents(step);
    plan::Budget budget = options.budget;
    if (rates) budget.device = std::make_shared<CachedDevice>(rates);
    Compiled result;
    if (options.optimize) {
      result.step = plan::fit(step, arena, budget);
    } else {
      result.step.arena = plan::plan_arena(step, arena);
      result.step.graph = std::move(step);
    }
    shrink(result.step);
    result.constants = contents.blocks(result.step.graph, known);
    return result;
  };
  CompileCache::Rates rates;
  if (const auto& device = options.budget.device) rates = [&device] { return device->rates(); };
  return compile_cache().get(key, rates, make);
}

Program::Program(ir::Graph graph, const CompileOptions& options,
                 const std::vector<const Program*>& siblings)
    : compiled_(compile(std::move(graph), options, siblings)),
      plan_(compiled_, &compiled_->step.arena.plan) {
  const ir::Graph& step = compiled_->step.graph;
  std::vector<std::shared_ptr<const std::byte>> constants(step.values.size());
  for (size_t id = 0; id < constants.size(); ++id) {
    const std::shared_ptr<const Block>& block = compiled_->constants[id];
    if (!block) continue;
    const ir::TensorType& type = step.type(static_cast<int>(id));
    const auto size = static_cast<size_t>(size_bytes(type.dtype, type.shape));
    constants[id] = contents_of_sibling(siblings, {block->data(), size});
    if (!constants[id]) constants[id] = counted(block);
  }
  data_ = program::build(compiled_->step,
                         {options.threads, options.fast, options.optimize, options.prepared},
                         constants);
}

Program::Program(program::Program data) : data_(std::move(data)) {
  auto plan = std::make_shared<Plan>();
  plan->arena_bytes = data_.arena_bytes;
  plan->staging_bytes = data_.staging_bytes;
  plan_ = std::move(plan);
}

}  // namespace thimble::exec
