#include "ops/families/quantized/masked.h"

#include <thimble/ops/activation_bits.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ops/families/unary/activation_mask.h"

namespace thimble::ops {

OpDef masked_op(const MaskedOp& of, const char* name,
                std::vector<ir::TensorType> (*infer)(const ir::InferContext&), ir::KernelFn ref,
                ir::KernelFn ref64, ir::KernelFn fast) {
  OpDef made{
      .name = name,
      .signature{
          .doc = "The result of the op, and one bit an element: whether it lay within its bounds "
                 "before it was clamped.",
          .inputs = of.result->signature.inputs,
          .outputs = {of.result->signature.outputs[0], of.inside->signature.outputs[0]},
          .attrs = of.result->signature.attrs,
      },
      .infer = infer,
      .kernels = of.inside->kernels,
      .flow = of.inside->flow,
  };
  made.kernels.flops = of.result->kernels.flops;
  made.kernels.ref = ref;
  made.kernels.ref64 = ref64;
  made.kernels.fast = fast;
  return made;
}

ir::Graph with_masks_at_once(const ir::Graph& graph) {
  const MaskedOp ops[] = {quantized_conv2d_masked(), quantized_dense_masked()};
  using Key = std::pair<std::vector<int>, std::string>;  // inputs, and op with attributes
  const auto key_of = [](const ir::Node& node, const OpDef* result) {
    return Key{node.inputs, std::string(result->name) + " " + node.attrs.full_text()};
  };
  std::map<Key, const ir::Node*> masks;
  for (const ir::Node& node : graph.nodes) {
    for (const MaskedOp& op : ops) {
      if (node.op == op.inside) masks.emplace(key_of(node, op.result), &node);
    }
  }
  if (masks.empty()) return graph;
  ir::Rewriter rewriter(graph);
  std::map<const ir::Node*, Value> bits;  // computed with the result, by the node of the mask
  for (const ir::Node& node : graph.nodes) {
    const auto known = bits.find(&node);
    if (known != bits.end()) {
      rewriter.replace(node, {&known->second, 1});
      continue;
    }
    const auto op = std::find_if(std::begin(ops), std::end(ops),
                                 [&node](const MaskedOp& each) { return each.result == node.op; });
    const auto mask = op == std::end(ops) ? masks.end() : masks.find(key_of(node, op->result));
    if (mask == masks.end() || bits.count(mask->second) > 0) {
      rewriter.copy(node);
      continue;
    }
    std::vector<Value> inputs;
    for (const int id : node.inputs) inputs.push_back(rewriter.map(id));
    rewriter.graph().reopen_layer(node.layer);
    const std::vector<Value> both = rewriter.graph().add(*op->both, node.attrs, inputs);
    rewriter.graph().end_layer();
    rewriter.replace(node, {both.data(), 1});
    bits.emplace(mask->second, both[1]);
  }
  return std::move(rewriter).finish();
}

ir::Graph with_masked_gradients(const ir::Graph& graph) {
  const MaskedGradient ops = quantized_input_grad_masked();
  const std::vector<char> read_once = graph.read_once();
  // By the node that masks it: the gradient.
  std::map<const ir::Node*, const ir::Node*> gradients;
  std::set<const ir::Node*> inner;
  for (const ir::Node& node : graph.nodes) {
    if (node.op != &masking_op() || node.attrs.as<GradByBitsAttrs>().slope != 0.0) continue;
    const int id = node.input(0);
    const ir::Node* const from = graph.producer_of(id, *ops.gradient);
    if (from == nullptr || read_once[static_cast<size_t>(id)] == 0) continue;
    const Shape& weight = graph.type(from->input(1)).shape;
    if (weight.rank() == 4 && weight[1] * weight[2] != 1) continue;
    gradients.emplace(&node, from);
    inner.insert(from);
  }
  if (gradients.empty()) return graph;
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) {
    if (inner.count(&node) > 0) continue;
    const auto found = gradients.find(&node);
    if (found == gradients.end()) {
      rewriter.copy(node);
      continue;
    }
    const ir::Node& from = *found->second;
    const Value inputs[] = {rewriter.map(from.input(0)), rewriter.map(from.input(1)),
                            rewriter.map(node.input(1))};
    rewriter.graph().reopen_layer(node.layer);
    rewriter.replace(node, rewriter.graph().add(*ops.masked, from.attrs, inputs));
    rewriter.graph().end_layer();
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::ops
