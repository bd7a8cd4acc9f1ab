// Recurrent layers. ONNX has sequences as [T, N, features], thimble as [N, T, features].
#include <fmt/format.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cstring>

#include "import/onnx/table.h"
#include "import/parts.h"

namespace thimble::importer::onnx {
namespace {

// Blocks of `units` rows of one direction, in thimble's order of the gates, from block `first` on.
// As an initializer they become a parameter of their own.
Value gates(Node& node, size_t i, int64_t direction, const std::vector<int>& order, int64_t units,
            int64_t first, const char* suffix) {
  const Item& item = node.item(i);
  const Shape shape = item.shape();
  const int64_t width = shape.rank() == 3 ? shape[2] : 1;
  const auto blocks = static_cast<int64_t>(order.size());
  Shape made_shape = shape.rank() == 3 ? Shape{blocks * units, width} : Shape{blocks * units};
  if (item.weight && !node.importer().is_function()) {
    const Array all = *Importer::known(item);
    const auto row = static_cast<size_t>(units * width * bits(all.dtype()) / 8);
    std::vector<std::byte> bytes(row * order.size());
    const int64_t rows_of_direction = shape[1] / units;
    for (size_t b = 0; b < order.size(); ++b) {
      const auto from = static_cast<size_t>(direction * rows_of_direction + first + order[b]);
      std::memcpy(bytes.data() + b * row, all.bytes().data() + from * row, row);
    }
    Item made;
    made.known = Array::of_bytes(all.dtype(), made_shape, std::move(bytes));
    made.order = plain_order(made_shape.rank());
    made.weight = std::make_shared<Weight>(
        Weight{.name = item.weight->name + (direction == 0 ? "" : ".reverse") + suffix,
               .made = {},
               .full = {},
               .order = {}});
    return node.importer().value(made);
  }
  const Value all = node.value(i);
  std::vector<Value> parts;
  for (const int gate : order) {
    Value part = slice(slice(all, 0, direction, direction + 1), 1, (first + gate) * units,
                       (first + gate + 1) * units);
    parts.push_back(reshape(part, shape.rank() == 3 ? Shape{units, width} : Shape{units}));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, {.axis = 0});
}

struct Recurrent {
  int64_t units = 0;
  int64_t directions = 1;
  bool reverse = false;
  bool batch_first = false;
  Value x;  // [N, T, features]
  Value lengths;
  Value h0;  // [N, directions, units]
  std::vector<RecurrentWeights> weights;
};

void check_activations(Node& node, const std::vector<std::string>& usual, int64_t directions) {
  const std::vector<std::string> given = node.texts("activations");
  if (given.empty()) return;
  for (size_t i = 0; i < given.size(); ++i) {
    std::string lower = given[i];
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lower != usual[i % usual.size()] ||
        given.size() != usual.size() * static_cast<size_t>(directions)) {
      node.fail("thimble has recurrent layers with their usual activations alone");
    }
  }
}

Recurrent recurrent_of(Node& node, const std::vector<int>& gate_order) {
  Recurrent made;
  const Shape weight = node.shape(1);
  const auto count = static_cast<int64_t>(gate_order.size());
  node.require(node.rank(0) == 3 && weight.rank() == 3 && node.rank(2) == 3,
               "expected a sequence [T, N, features] and weights of three dimensions");
  made.units = node.shape(2)[2];
  made.directions = weight[0];
  node.require(made.directions == 1 || made.directions == 2, "expected one or two directions");
  node.require(made.units >= 1 && weight[1] == count * made.units &&
                   node.shape(2)[1] == count * made.units && node.shape(2)[0] == made.directions,
               "its weights do not fit each other");
  const std::string direction = node.text("direction", "forward");
  made.reverse = direction == "reverse";
  node.require((direction == "bidirectional") == (made.directions == 2),
               "its direction and its weights do not fit");
  node.require(!node.has_attribute("clip"), "thimble does not clip the sums of recurrent layers");
  made.batch_first = node.integer("layout", 0) != 0;
  const Order order = made.batch_first ? Order{0, 1, 2} : Order{1, 0, 2};
  made.x = node.value(0, order);
  if (node.has(4)) made.lengths = as_type(node.value(4), DType::i32);
  if (node.has(5)) made.h0 = node.value(5, order);
  if (node.has(3)) {
    node.require(node.shape(3) == Shape{made.directions, 2 * count * made.units},
                 "its bias has another shape");
  }
  for (int64_t d = 0; d < made.directions; ++d) {
    RecurrentWeights one;
    one.ih = gates(node, 1, d, gate_order, made.units, 0, "");
    one.hh = gates(node, 2, d, gate_order, made.units, 0, "");
    if (node.has(3)) {
      one.bias_ih = gates(node, 3, d, gate_order, made.units, 0, ".ih");
      one.bias_hh = gates(node, 3, d, gate_order, made.units, count, ".hh");
    }
    made.weights.push_back(one);
  }
  return made;
}

// The steps of a sequence from the last to the first; padding stays behind.
Value reversed(Value x, Value lengths) {
  return lengths ? reverse_sequence(x, lengths) : flip(x, {.axes = {1}});
}

void give_results(Node& node, const Recurrent& r, Value y, Value h) {
  const Shape& s = y.shape();
  if (r.reverse) y = reversed(y, r.lengths);
  y = reshape(y, {s[0], s[1], r.directions, r.units});
  node.give(0, y, r.batch_first ? Order{0, 1, 2, 3} : Order{2, 0, 1, 3});
  node.give(1, h, r.batch_first ? Order{0, 1, 2} : Order{1, 0, 2});
}

// x in the direction of the scan; lengths of their own become those of the op.
RnnResult scan(const Recurrent& r, Value x, const RnnOptions* rnn_options) {
  if (rnn_options != nullptr) return rnn(x, r.h0, r.weights, *rnn_options);
  return gru(x, r.h0, r.weights, {.bidirectional = r.directions == 2});
}

void rnn_node(Node& node) {
  Recurrent r = recurrent_of(node, {0});
  const std::vector<std::string> given = node.texts("activations");
  const bool is_relu = !given.empty() && (given[0] == "Relu" || given[0] == "relu");
  check_activations(node, {is_relu ? "relu" : "tanh"}, r.directions);
  node.require(!r.lengths, "thimble takes lengths of sequences with weights of its own alone");
  const Value x = r.reverse ? reversed(r.x, r.lengths) : r.x;
  const RnnOptions options{.bidirectional = r.directions == 2, .relu = is_relu};
  const RnnResult result = scan(r, x, &options);
  give_results(node, r, result.y, result.h);
}

// The reset gate before the product: one step after the other.
RnnResult gru_reset_first(const Recurrent& r, Value x) {
  const Shape& s = x.shape();
  const int64_t u = r.units;
  const RecurrentWeights& w = r.weights[0];
  const Value inputs = dense(x, w.ih, w.bias_ih);
  const Value gate_weights = slice(w.hh, 0, 0, 2 * u);
  const Value new_weights = slice(w.hh, 0, 2 * u, 3 * u);
  const Value gate_bias = w.bias_hh ? slice(w.bias_hh, 0, 0, 2 * u) : Value();
  const Value new_bias = w.bias_hh ? slice(w.bias_hh, 0, 2 * u, 3 * u) : Value();
  Value h;
  if (r.h0) h = reshape(r.h0, {s[0], u});
  std::vector<Value> steps;
  for (int64_t t = 0; t < s[1]; ++t) {
    const Value now = reshape(slice(inputs, 1, t, t + 1), {s[0], 3 * u});
    if (!h) h = slice(now, 1, 0, u) * 0.0;
    const Value both = sigmoid(slice(now, 1, 0, 2 * u) + dense(h, gate_weights, gate_bias));
    const Value reset = slice(both, 1, 0, u);
    const Value update = slice(both, 1, u, 2 * u);
    const Value fresh = tanh(slice(now, 1, 2 * u, 3 * u) + dense(reset * h, new_weights, new_bias));
    h = fresh + update * (h - fresh);
    steps.push_back(reshape(h, {s[0], 1, u}));
  }
  return {concatenated(steps, 1), reshape(h, {s[0], 1, u})};
}

void gru_node(Node& node) {
  Recurrent r = recurrent_of(node, {1, 0, 2});
  check_activations(node, {"sigmoid", "tanh"}, r.directions);
  node.require(!r.lengths, "thimble takes lengths of sequences with weights of its own alone");
  const Value x = r.reverse ? reversed(r.x, r.lengths) : r.x;
  if (node.integer("linear_before_reset", 0) != 0) {
    const RnnResult result = scan(r, x, nullptr);
    return give_results(node, r, result.y, result.h);
  }
  node.require(r.directions == 1 && x.shape()[1] <= 32,
               "thimble has the reset gate after the product (linear_before_reset 1), or before it "
               "for one direction and at most 32 steps");
  const RnnResult result = gru_reset_first(r, x);
  give_results(node, r, result.y, result.h);
}

void lstm_node(Node& node) {
  Recurrent r = recurrent_of(node, {0, 2, 3, 1});
  check_activations(node, {"sigmoid", "tanh", "tanh"}, r.directions);
  node.require(!node.has(7), "thimble has no peephole connections");
  node.require(node.integer("input_forget", 0) == 0, "thimble does not couple the gates");
  node.require(!r.lengths, "thimble takes lengths of sequences with weights of its own alone");
  const Order order = r.batch_first ? Order{0, 1, 2} : Order{1, 0, 2};
  Value c0;
  if (node.has(6)) c0 = node.value(6, order);
  Value h0 = r.h0;
  if (c0 && !h0) h0 = c0 * 0.0;
  if (h0 && !c0) c0 = h0 * 0.0;
  const Value x = r.reverse ? reversed(r.x, r.lengths) : r.x;
  const LstmResult result = lstm(x, h0, c0, r.weights, {.bidirectional = r.directions == 2});
  give_results(node, r, result.y, result.h);
  node.give(2, result.c, order);
}

}  // namespace

void add_recurrent(Conversions& table) {
  table["RNN"] = {rnn_node, false};
  table["GRU"] = {gru_node, false};
  table["LSTM"] = {lstm_node, false};
}

}  // namespace thimble::importer::onnx
