// Recurrent layers of whole sequences.
#include <thimble/ops.h>

#include <array>

#include "import/tflite/node.h"
#include "ir/graph.h"

namespace thimble::tflite {
namespace {

// Inputs of UNIDIRECTIONAL_SEQUENCE_LSTM; those of four gates stand one behind the other.
constexpr int kInputWeights = 1;
constexpr int kStateWeights = 5;
constexpr std::array kPeepholes{9, 10, 11};
constexpr int kBiases = 12;
constexpr std::array kProjection{16, 17};
constexpr int kNorms = 20;
constexpr const char* kGates[] = {"input", "forget", "cell", "output"};

void refuse_others(const Node& node, const UnidirectionalSequenceLSTMOptions& o) {
  if (node.is_int8()) node.fail("thimble reads it of float32 alone");
  if (o.activation() != ActivationFunction_TANH) node.fail("its activation must be tanh");
  if (o.cell_clip() != 0.0F || o.proj_clip() != 0.0F) node.fail("thimble has no limits of cells");
  if (o.time_major()) node.fail("thimble reads it with the batch before the steps alone");
  if (o.diagonal_recurrent_tensors()) node.fail("thimble has no diagonal weights of states");
  for (const int i : kPeepholes) {
    if (node.has(i)) node.fail("thimble has no peephole connections");
  }
  for (const int i : kProjection) {
    if (node.has(i)) node.fail("thimble reads it without projection alone");
  }
  for (int i = kNorms; i < node.inputs(); ++i) {
    if (node.has(i)) node.fail("thimble has no layer norm of gates");
  }
  if (!node.has(kInputWeights) || !node.has(kStateWeights)) {
    node.fail("thimble has no input gate that is coupled to the forget gate");
  }
}

// What the gates have, each with a parameter of its own, in one value.
Value of_gates(Node& node, int first, const std::string& name, Layout layout) {
  std::vector<Value> parts;
  for (int gate = 0; gate < 4; ++gate) {
    parts.push_back(
        node.parameter(first + gate, fmt::format("{}_{}", name, kGates[gate]), false, layout));
  }
  return concat(parts, {.axis = 0});
}

// States begin at zero in every run.
void unidirectional_lstm(Node& node) {
  const auto& o = node.options<UnidirectionalSequenceLSTMOptions>(
      BuiltinOptions_UnidirectionalSequenceLSTMOptions);
  refuse_others(node, o);
  const Value x = node.input(0);
  if (x.shape().rank() != 3) {
    node.fail("expected sequences [N, T, features], got " + to_string(x.shape()));
  }
  const ir::LayerScope layer(node.ir(), "lstm", "");
  RecurrentWeights weights;
  weights.ih = of_gates(node, kInputWeights, layer.name() + ".weight_ih", Layout::same);
  weights.hh = of_gates(node, kStateWeights, layer.name() + ".weight_hh", Layout::same);
  if (node.has(kBiases)) {
    weights.bias_ih = of_gates(node, kBiases, layer.name() + ".bias_ih", Layout::flat);
    const std::vector<float> zeros(static_cast<size_t>(weights.bias_ih.shape()[0]), 0.0F);
    weights.bias_hh = node.constant(layer.name() + ".bias_hh", Array(zeros));
  }
  node.give(lstm(x, Value(), Value(), {weights}).y);
}

}  // namespace

std::span<const Rule> recurrent_rules() {
  static const Rule rules[] = {
      // The states, which are variables, are no data.
      {44, "UNIDIRECTIONAL_SEQUENCE_LSTM", unidirectional_lstm, 18},
  };
  return rules;
}

}  // namespace thimble::tflite
