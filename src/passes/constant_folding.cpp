#include <algorithm>

#include "ir/reference.h"
#include "ir/rewrite.h"
#include "passes/passes.h"

namespace thimble::passes {
namespace {

// Folding must not trade memory for arithmetic: a constant is kept for the whole training, so only
// results of up to a cache line are kept.
constexpr int64_t kMaxFoldedElements = 16;

// Folding must not depend on the batch, because programs of all batches share a budget: a result
// must have the shape of an input, without a dimension of 1, which may be a batch of one.
bool is_foldable(const ir::Graph& to, const ir::Graph& from, const ir::Node& node,
                 const std::vector<int>& inputs) {
  if (node.op->kernels.ref == nullptr || node.op->flow.reads_rng ||
      !node.op->memory.updates.empty())
    return false;
  const auto is_of_every_batch = [&](const Shape& shape) {
    const std::vector<int64_t>& dims = shape.dims();
    return std::count(dims.begin(), dims.end(), 1) == 0 &&
           std::any_of(inputs.begin(), inputs.end(),
                       [&](int id) { return id >= 0 && to.type(id).shape == shape; });
  };
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](int id) { return id < 0 || to.data(id).role == ir::Role::constant; }) &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [&](int id) {
           const Shape& shape = from.type(id).shape;
           return shape.elements() <= kMaxFoldedElements &&
                  (shape.rank() == 0 || is_of_every_batch(shape));
         });
}

Value add_constant(ir::Graph& graph, const ir::TensorType& type, ir::Bytes bytes) {
  const std::string name = "@constant_" + std::to_string(graph.values.size());
  const Value value = graph.own_source(name, type, ir::Role::constant);
  graph.values[static_cast<size_t>(value.id())].data =
      Array::of_bytes(type.dtype, type.shape, std::move(bytes));
  return value;
}

}  // namespace

ir::Graph fold_constants(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) {
    std::vector<int> inputs;
    for (int input : node.inputs) inputs.push_back(rewriter.new_id(input));
    if (!is_foldable(rewriter.graph(), graph, node, inputs)) {
      rewriter.copy(node);
      continue;
    }
    std::vector<ir::Bytes> contents(inputs.size());
    std::vector<const ir::Bytes*> pointers(inputs.size(), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] < 0) continue;
      contents[i] = ir::to_bytes(*rewriter.graph().data(inputs[i]).data, ir::Precision::f32);
      pointers[i] = &contents[i];
    }
    auto outputs = ir::run_reference_node(graph, node, pointers, ir::Precision::f32);
    std::vector<Value> folded;
    for (size_t i = 0; i < outputs.size(); ++i) {
      folded.push_back(
          add_constant(rewriter.graph(), graph.type(node.outputs[i]), std::move(outputs[i])));
    }
    rewriter.replace(node, folded);
  }
  return std::move(rewriter).finish();
}

// One pass after the other, so that at most two graphs exist at once.
ir::Graph optimize(const ir::Graph& graph) {
  ir::Graph result = remove_dead_code(graph);
  result = fold_constants(result);
  result = fuse_epilogues(result);
  return remove_dead_code(result);
}

}  // namespace thimble::passes
