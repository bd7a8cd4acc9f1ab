// Operators of thimble's own domain: layers of PyTorch that ONNX has in another form.
#include <thimble/ops.h>

#include "import/onnx/table.h"

namespace thimble::importer::onnx {
namespace {

// Inputs: x [T, N, features] or with batch_first [N, T, features], h0 and c0 [layers * directions,
// N, units] or left out, then the weights of every layer and direction as PyTorch has them: ih, hh,
// and with `bias` both biases, with `projection` hr. Results: y, h, c.
void recurrent(Node& node) {
  const Order order = node.integer("batch_first", 0) != 0 ? Order{0, 1, 2} : Order{1, 0, 2};
  const Order states{1, 0, 2};
  node.require(node.rank(0) == 3, "expected sequences of three dimensions, with a batch");
  const Value x = node.value(0, order);
  const Value h0 = node.has(1) ? node.value(1, states) : Value();
  const Value c0 = node.has(2) ? node.value(2, states) : Value();
  const bool bias = node.integer("bias", 1) != 0;
  const bool projects = node.integer("projection", 0) != 0;
  std::vector<RecurrentWeights> weights;
  for (size_t i = 3; i < node.inputs();) {
    RecurrentWeights one;
    one.ih = node.value(i++);
    one.hh = node.value(i++);
    if (bias) {
      one.bias_ih = node.value(i++);
      one.bias_hh = node.value(i++);
    }
    if (projects) one.hr = node.value(i++);
    weights.push_back(one);
  }
  node.require(!weights.empty(), "expected weights");
  const bool both = node.integer("bidirectional", 0) != 0;
  const double dropped = node.number("dropout", 0.0);
  const std::string kind = node.text("kind", "lstm");
  if (kind == "lstm") {
    const LstmResult r = lstm(x, h0, c0, weights, {.bidirectional = both, .dropout = dropped});
    node.give(0, r.y, order);
    node.give(1, r.h, states);
    node.give(2, r.c, states);
    return;
  }
  const RnnResult r =
      kind == "gru" ? gru(x, h0, weights, {.bidirectional = both, .dropout = dropped})
                    : rnn(x, h0, weights,
                          {.bidirectional = both, .dropout = dropped, .relu = kind == "rnn_relu"});
  node.give(0, r.y, order);
  node.give(1, r.h, states);
}

// Inputs: the table, indices. The row padding_idx gets no gradient.
void embedding_node(Node& node) {
  node.give(embedding(as_type(node.value(1), DType::i32), node.value(0),
                      {.padding_idx = node.integer("padding_idx", -1)}));
}

// Images [N, C, L], [N, C, H, W] or [N, C, D, H, W] to the sizes of the spatial axes.
void adaptive_average_pool(Node& node) {
  const std::vector<int64_t> sizes = node.integers("sizes");
  const int rank = node.rank(0);
  node.require(rank >= 3 && rank <= 5 && sizes.size() == static_cast<size_t>(rank) - 2,
               "expected images [N, C, ...] and a size for each spatial axis");
  const Order order = channels_last(rank);
  const Value x = node.value(0, order);
  if (rank == 3) return node.give(adaptive_average_pool1d(x, {.size = sizes[0]}), order);
  if (rank == 5) return node.give(adaptive_average_pool3d(x, {.size = sizes}), order);
  const bool whole = sizes[0] == 1 && sizes[1] == 1;
  if (!whole) return node.give(adaptive_average_pool2d(x, {.size = {sizes[0], sizes[1]}}), order);
  node.give(reshape(global_average_pool2d(x), {x.shape()[0], 1, 1, x.shape()[3]}), order);
}

// The angle of the point (input 1, input 0), broadcast.
void atan2_node(Node& node) {
  const Broadcast in = broadcast(node, {0, 1});
  node.give(atan2(in.values[0], as_type(in.values[1], in.values[0].dtype())), in.order);
}

void stop_gradient_node(Node& node) {
  Order order;
  const Value x = node.stored(0, order);
  node.give(0, stop_gradient(x), order, node.item(0).is_bool);
}

}  // namespace

void add_own(Conversions& table) {
  table["Recurrent"] = {recurrent, false};
  table["Embedding"] = {embedding_node, false};
  table["StopGradient"] = {stop_gradient_node};
  table["Atan2"] = {atan2_node};
  table["AdaptiveAveragePool"] = {adaptive_average_pool, false};
}

}  // namespace thimble::importer::onnx
