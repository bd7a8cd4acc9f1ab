// Recurrent layers and their cells.
#include <layer.h>
#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/dense.h>
#include <thimble/ops/dropout.h>
#include <thimble/ops/gru.h>
#include <thimble/ops/lstm.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/rnn.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/split.h>
#include <thimble/ops/sub.h>

#include <vector>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kRecurrent[] = {
    {"unit", Kind::positive, nullptr, "", 0, true},
    {"hidden_state_activation", Kind::choice, "tanh", kActivations},
    {"integrate_bias", Kind::boolean, "false"},
    {"dropout_rate", Kind::real, "0"},
};
constexpr Property kSequence[] = {{"return_sequences", Kind::boolean, "false"}};
constexpr Property kGates[] = {{"recurrent_activation", Kind::choice, "sigmoid", kActivations}};
constexpr Property kLstm[] = {
    {"bidirectional", Kind::boolean, "false"},
    {"max_timestep", Kind::positive},
};
constexpr Property kGru[] = {{"reset_after", Kind::boolean, "true"}};
constexpr Property kZoneout[] = {
    {"hidden_state_zoneout_rate", Kind::real, "0"},
    {"cell_state_zoneout_rate", Kind::real, "0"},
    {"max_timestep", Kind::positive},
    {"timestep", Kind::count},
};

enum class Cell { rnn, lstm, gru };

int64_t gates_of(Cell cell) { return cell == Cell::rnn ? 1 : cell == Cell::lstm ? 4 : 3; }

// One recurrent layer while it is built. Values are rows [N, features].
class Recurrence {
 public:
  Recurrence(LayerBuild& b, Cell cell)
      : b_(b),
        cell_(cell),
        units_(b.props.count("unit")),
        activation_(b.props.choice("hidden_state_activation")),
        gate_activation_(cell == Cell::rnn ? "sigmoid" : b.props.choice("recurrent_activation")),
        resets_after_(cell != Cell::gru || b.props.boolean("reset_after")),
        dropout_(b.props.real("dropout_rate")) {
    b.require(dropout_ >= 0.0 && dropout_ < 1.0, "dropout_rate is from 0 to below 1");
  }

  [[nodiscard]] int64_t units() const { return units_; }
  // Whether thimble has an op of the whole layer.
  [[nodiscard]] bool is_usual() const {
    return activation_ == "tanh" && gate_activation_ == "sigmoid" && resets_after_ &&
           dropout_ == 0.0;
  }

  // Biases are both there or none is.
  RecurrentWeights weights(int64_t features, const std::string& prefix = "") {
    const int64_t columns = gates_of(cell_) * units_;
    RecurrentWeights w;
    w.ih = matrix(prefix + "weight_ih", features, columns);
    w.hh = matrix(prefix + "weight_hh", units_, columns);
    if (b_.props.boolean("disable_bias")) return w;
    if (b_.props.boolean("integrate_bias")) {
      w.bias_ih = row(prefix + "bias_h", columns);
      w.bias_hh = zeros(prefix + "no_bias", {columns});
    } else {
      w.bias_ih = row(prefix + "bias_ih", columns);
      w.bias_hh = row(prefix + "bias_hh", columns);
    }
    return w;
  }

  Value zeros(const std::string& name, const Shape& shape) {
    return b_.graph().constant(b_.name() + ":" + name, shape,
                               std::vector<float>(static_cast<size_t>(shape.elements()), 0.0F));
  }

  // The next h, of which training drops some elements, and c of an lstm.
  std::pair<Value, Value> step(Value x, Value h, Value c, const RecurrentWeights& w) {
    const auto [next_h, next_c] = whole_step(x, h, c, w);
    return {dropped(next_h), next_c};
  }

  [[nodiscard]] Value dropped(Value h) const {
    return dropout_ > 0.0 ? dropout(h, {.p = dropout_}) : h;
  }

 private:
  std::pair<Value, Value> whole_step(Value x, Value h, Value c, const RecurrentWeights& w) {
    const Value from_x = dense(x, w.ih, w.bias_ih);
    if (cell_ == Cell::gru && !resets_after_) return {reset_before(from_x, h, w), {}};
    const Value from_h = dense(h, w.hh, w.bias_hh);
    if (cell_ == Cell::rnn) return {activated(add(from_x, from_h), activation_), {}};
    if (cell_ == Cell::lstm) {
      const std::vector<Value> part = split(add(from_x, from_h), 4);
      const Value next = add(mul(gate(part[1]), c), mul(gate(part[0]), act(part[2])));
      return {mul(gate(part[3]), act(next)), next};
    }
    const std::vector<Value> a = split(from_x, 3);
    const std::vector<Value> u = split(from_h, 3);
    const Value r = gate(add(a[0], u[0]));
    const Value z = gate(add(a[1], u[1]));
    return {mixed(z, h, act(add(a[2], mul(r, u[2])))), {}};
  }

  [[nodiscard]] Value gate(Value x) const { return activated(x, gate_activation_); }
  [[nodiscard]] Value act(Value x) const { return activated(x, activation_); }
  // z h + (1 - z) g
  static Value mixed(Value z, Value h, Value g) { return add(g, mul(z, sub(h, g))); }

  // The state is reset before it is multiplied: no recurrent bias for the candidate.
  Value reset_before(Value from_x, Value h, const RecurrentWeights& w) {
    const std::vector<Value> a = split(from_x, 3);
    const std::vector<Value> matrices = split(w.hh, 3, 0);
    const std::vector<Value> biases = w.bias_hh ? split(w.bias_hh, 3, 0) : std::vector<Value>(3);
    const Value r = gate(add(a[0], dense(h, matrices[0], biases[0])));
    const Value z = gate(add(a[1], dense(h, matrices[1], biases[1])));
    return mixed(z, h, act(add(a[2], dense(mul(r, h), matrices[2], Value()))));
  }

  // Users' gates of a gru are z, r, g; thimble's r, z, n.
  [[nodiscard]] int64_t swapped() const { return cell_ == Cell::gru ? units_ : 0; }

  Value matrix(const std::string& name, int64_t rows, int64_t columns) {
    return b_.weight({.name = name,
                      .dims = {1, 1, rows, columns},
                      .shape = {columns, rows},
                      .order = {0, 1, 3, 2},
                      .swapped_gates = swapped()});
  }
  Value row(const std::string& name, int64_t columns) {
    return b_.weight({.name = name,
                      .dims = {1, 1, 1, columns},
                      .shape = {columns},
                      .swapped_gates = swapped(),
                      .initializer = "bias_initializer",
                      .decay = "bias_decay",
                      .regularizer = nullptr});
  }

  LayerBuild& b_;
  Cell cell_;
  int64_t units_;
  std::string activation_;
  std::string gate_activation_;
  bool resets_after_;
  double dropout_;
};

// All steps of one direction, [N, 1, units] each, in the order of time.
std::vector<Value> unrolled(Recurrence& layer, Value x, int64_t steps, const RecurrentWeights& w,
                            bool backward) {
  std::vector<Value> states(static_cast<size_t>(steps));
  Value h = layer.zeros(backward ? "reverse_h0" : "h0", {1, layer.units()});
  Value c = h;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = backward ? steps - 1 - i : i;
    const Value now = reshape(slice(x, 1, t, t + 1), {-1, x.shape()[2]});
    std::tie(h, c) = layer.step(now, h, c, w);
    states[static_cast<size_t>(t)] = reshape(h, {-1, 1, layer.units()});
  }
  return states;
}

struct Sequence {
  Value all;   // [N, T, width]
  Value last;  // [N, width]
};

Sequence by_steps(Recurrence& layer, Value x, int64_t steps,
                  const std::vector<RecurrentWeights>& weights) {
  std::vector<Value> all;
  std::vector<Value> last;
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::vector<Value> states = unrolled(layer, x, steps, weights[i], i == 1);
    all.push_back(concat(states, {.axis = 1}));
    last.push_back(reshape(i == 1 ? states.front() : states.back(), {-1, layer.units()}));
  }
  return all.size() == 1 ? Sequence{all[0], last[0]} : Sequence{concat(all), concat(last)};
}

Sequence by_op(Cell cell, Value x, const std::vector<RecurrentWeights>& weights, int64_t width,
               const std::string& name) {
  const bool both = weights.size() == 2;
  const auto sequence = [&](Value y, Value h) { return Sequence{y, reshape(h, {-1, width})}; };
  if (cell == Cell::lstm) {
    const LstmResult r = lstm(x, Value(), Value(), weights, {.bidirectional = both, .name = name});
    return sequence(r.y, r.h);
  }
  const RnnResult r = cell == Cell::rnn ? rnn(x, Value(), weights, RnnOptions{.name = name})
                                        : gru(x, Value(), weights, GruOptions{.name = name});
  return sequence(r.y, r.h);
}

void build_sequence(LayerBuild& b, Cell cell) {
  b.require_inputs(1, 1);
  const Dim in = b.dim();
  b.require(in.c == 1, "expected an input of the shape 1:time:features, got " + to_string(in));
  if (b.props.has("max_timestep")) {
    b.require(in.h <= b.props.count("max_timestep"), "the input has more steps than max_timestep");
  }
  Recurrence layer(b, cell);
  std::vector<RecurrentWeights> weights{layer.weights(in.w)};
  if (b.props.boolean("bidirectional")) weights.push_back(layer.weights(in.w, "reverse_"));
  const int64_t width = static_cast<int64_t>(weights.size()) * layer.units();
  const Value x = reshape(b.plain(), {-1, in.h, in.w});
  constexpr int64_t kMostSteps = 4096;
  b.require(
      layer.is_usual() || in.h <= kMostSteps,
      "with dropout, or other activations than tanh and sigmoid, it takes at most 4096 steps");
  const Sequence y = layer.is_usual() ? by_op(cell, x, weights, width, b.name())
                                      : by_steps(layer, x, in.h, weights);
  if (b.props.boolean("return_sequences")) {
    b.put_plain(reshape(y.all, {-1, 1, in.h, width}), {1, in.h, width});
  } else {
    b.put_plain(reshape(y.last, {-1, 1, 1, width}), {1, 1, width});
  }
}

Value row_of(LayerBuild& b, int i) {
  b.require(b.dim(i).c == 1 && b.dim(i).h == 1,
            "expected inputs of the shape 1:1:features, got " + to_string(b.dim(i)));
  return reshape(b.plain(i), {-1, b.dim(i).w});
}

void require_states(LayerBuild& b, int count) {
  b.require_inputs(1 + count, 1 + count);
  for (int i = 1; i <= count; ++i) {
    b.require(b.dim(i).w == b.props.count("unit"),
              "expected states of the width of unit, got " + to_string(b.dim(i)));
  }
}

void put_row(LayerBuild& b, Value row, int64_t units) {
  b.put_plain(reshape(row, {-1, 1, 1, units}), {1, 1, units});
}

void build_cell(LayerBuild& b, Cell cell) {
  require_states(b, cell == Cell::lstm ? 2 : 1);
  Recurrence layer(b, cell);
  const RecurrentWeights w = layer.weights(b.dim().w);
  const Value c = cell == Cell::lstm ? row_of(b, 2) : Value();
  const auto [next_h, next_c] = layer.step(row_of(b, 0), row_of(b, 1), c, w);
  put_row(b, next_h, layer.units());
  if (cell == Cell::lstm) put_row(b, next_c, layer.units());
}

void build_zoneout_cell(LayerBuild& b) {
  require_states(b, 2);
  Recurrence layer(b, Cell::lstm);
  b.require(layer.is_usual(),
            "zoneout is for the activations tanh and sigmoid alone, without dropout");
  const double h_rate = b.props.real("hidden_state_zoneout_rate");
  const double c_rate = b.props.real("cell_state_zoneout_rate");
  const LstmState next =
      lstm_cell(row_of(b, 0), row_of(b, 1), row_of(b, 2), layer.weights(b.dim().w),
                {.zoneout_h = h_rate, .zoneout_c = c_rate, .name = b.name()});
  put_row(b, next.h, layer.units());
  put_row(b, next.c, layer.units());
}

}  // namespace

void add_recurrent_layers(std::vector<LayerKind>& kinds) {
  const auto add = [&](const char* type, int number, std::vector<std::span<const Property>> own,
                       std::function<void(LayerBuild&)> build) {
    own.insert(own.begin(), {kRecurrent, weight_properties()});
    kinds.push_back({type, number, std::move(own), std::move(build)});
  };
  const auto sequence = [](Cell cell) {
    return [cell](LayerBuild& b) { build_sequence(b, cell); };
  };
  const auto single = [](Cell cell) { return [cell](LayerBuild& b) { build_cell(b, cell); }; };
  add("rnn", LAYER_RNN, {kSequence}, sequence(Cell::rnn));
  add("lstm", LAYER_LSTM, {kSequence, kGates, kLstm}, sequence(Cell::lstm));
  add("gru", LAYER_GRU, {kSequence, kGates, kGru}, sequence(Cell::gru));
  add("rnncell", LAYER_RNNCELL, {}, single(Cell::rnn));
  add("lstmcell", LAYER_LSTMCELL, {kGates}, single(Cell::lstm));
  add("grucell", LAYER_GRUCELL, {kGates, kGru}, single(Cell::gru));
  add("zoneout_lstmcell", LAYER_ZONEOUT_LSTMCELL, {kGates, kZoneout}, build_zoneout_cell);
}

}  // namespace thimble::ml_train
