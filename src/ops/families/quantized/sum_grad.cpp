#include "ops/families/quantized/sum_grad.h"

#include <thimble/ops/activation_bits.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "ir/rewrite.h"
#include "ops/families/binary/binary.h"
#include "ops/families/quantized/masked.h"
#include "ops/families/reduction/sum.h"
#include "ops/families/unary/activation_mask.h"

namespace thimble::ops {
namespace {

// What becomes one op.
struct SumGradient {
  const ir::Node* mask = nullptr;  // may be none
  const ir::Node* scaled = nullptr;
  const ir::Node* sum = nullptr;
};

class SumGradients {
 public:
  explicit SumGradients(const ir::Graph& graph) : graph_(graph), read_once_(graph.read_once()) {}

  // Found by its sum.
  [[nodiscard]] SumGradient of(const ir::Node& sum) const {
    if (sum.op != &broadcast_sum_op()) return {};
    const ir::Node* const scaled = graph_.producer_of(sum.input(0), product_op());
    if (scaled == nullptr) return {};
    const ir::TensorType& dy = graph_.type(scaled->input(0));
    const ir::TensorType& factors = graph_.type(scaled->input(1));
    const bool fits = dy.dtype == DType::f32 && factors.dtype == DType::f32 &&
                      dy.shape.rank() >= 1 && factors.shape == Shape{dy.shape[-1]} &&
                      graph_.type(sum.outputs[0]).shape == factors.shape &&
                      graph_.data(scaled->input(1)).role == ir::Role::constant;
    if (!fits) return {};
    const ir::Node* const masked = graph_.producer_of(scaled->input(0), masking_op());
    const bool joins = masked != nullptr &&
                       read_once_[static_cast<size_t>(scaled->input(0))] != 0 &&
                       masked->attrs.as<GradByBitsAttrs>().slope == 0.0;
    return {joins ? masked : nullptr, scaled, &sum};
  }

 private:
  const ir::Graph& graph_;
  std::vector<char> read_once_;  // by value
};

// Whether quantized layers are trained: others keep the kernels that thimble-micro has.
bool has_quantized_masks(const ir::Graph& graph) {
  const MaskedOp ops[] = {quantized_conv2d_masked(), quantized_dense_masked()};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&ops](const ir::Node& node) {
    return std::any_of(std::begin(ops), std::end(ops), [&node](const MaskedOp& each) {
      return node.op == each.inside || node.op == each.both;
    });
  });
}

}  // namespace

ir::Graph with_sum_gradients(const ir::Graph& graph) {
  if (!has_quantized_masks(graph)) return graph;
  const SumGradients gradients(graph);
  std::map<const ir::Node*, SumGradient> found;  // by the product
  std::set<const ir::Node*> masks;
  for (const ir::Node& node : graph.nodes) {
    const SumGradient one = gradients.of(node);
    if (one.sum == nullptr || !found.emplace(one.scaled, one).second) continue;
    if (one.mask != nullptr) masks.insert(one.mask);
  }
  if (found.empty()) return graph;
  ir::Rewriter rewriter(graph);
  std::map<const ir::Node*, Value> sums;
  for (const ir::Node& node : graph.nodes) {
    if (masks.count(&node) > 0) continue;
    const auto sum = sums.find(&node);
    if (sum != sums.end()) {
      rewriter.replace(node, {&sum->second, 1});
      continue;
    }
    const auto one = found.find(&node);
    if (one == found.end()) {
      rewriter.copy(node);
      continue;
    }
    const ir::Node* const mask = one->second.mask;
    const Value inputs[] = {rewriter.map(mask != nullptr ? mask->input(0) : node.input(0)),
                            rewriter.map(node.input(1)),
                            mask != nullptr ? rewriter.map(mask->input(1)) : Value()};
    rewriter.graph().reopen_layer(node.layer);
    const std::vector<Value> both = rewriter.graph().add(quantized_sum_grad(), {}, inputs);
    rewriter.graph().end_layer();
    rewriter.replace(node, {both.data(), 1});
    sums.emplace(one->second.sum, both[1]);
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::ops
