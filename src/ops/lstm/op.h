#pragma once

#include <thimble/graph.h>
#include <thimble/ops/rnn.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

struct LstmOptions {
  int64_t units = 0;           // width of the hidden state; must be set
  int64_t layers = 1;          // stacked layers
  bool bidirectional = false;  // adds a second scan in reverse order to each layer
  double dropout = 0.0;        // between layers, 0 to 1; no effect with one layer
  bool bias = true;
  // Width of the hidden state where it is a projection weight_hr h of fewer than `units` numbers;
  // 0: there is none. Source: Sak, Senior and Beaufays, "Long short-term memory based recurrent
  // neural network architectures for large vocabulary speech recognition", 2014.
  int64_t projection = 0;
  std::string name;  // of the layer; empty: lstm_1, lstm_2, ...
};

struct LstmResult {
  Value y;  // [N, T, directions * width]: the hidden states of the last layer at every step
  Value h;  // [N, layers * directions, width]: of every layer and direction at its last step
  Value c;  // [N, layers * directions, units]: the cells
};

// Long short-term memory. With the gates i, f, g, o = sigmoid, sigmoid, tanh, sigmoid of
// W_ih x[t] + b_ih + W_hh h[t - 1] + b_hh: c[t] = f c[t - 1] + i g, h[t] = o tanh(c[t]).
// x: [N, T, features], T at least 1; h0, c0: of the shapes of h and c, or none for zeros; f32. The
// width of a hidden state is units, or the projection. Adds, for every layer k, the parameters
// <name>.weight_ih_lk [4 units, features], .weight_hh_lk [4 units, units], .bias_ih_lk and
// .bias_hh_lk [4 units], with a projection .weight_hr_lk [projection, units] (weight_hh then [4
// units, projection]), and the same with _reverse, all first U(-1/sqrt(units), 1/sqrt(units)):
// names, order of the gates and values as torch.nn.LSTM. Source: Hochreiter and Schmidhuber, 1997;
// Gers et al., 2000. Errors: Error where sizes do not fit.
LstmResult lstm(Value x, const LstmOptions& options);
LstmResult lstm(Value x, Value h0, Value c0, const LstmOptions& options);
// The same for sequences of different lengths, padded to T steps. lengths: [N], i32, 1 to T. y is 0
// in the padding, h and c are the states after the last valid step, and reverse scans begin there,
// as with PyTorch's pack_padded_sequence.
LstmResult lstm(Value x, Value h0, Value c0, Value lengths, const LstmOptions& options);
// With given weights, in the order that rnn has them; of the options bidirectional, dropout and
// name count, the others follow from weights.
LstmResult lstm(Value x, Value h0, Value c0, const std::vector<RecurrentWeights>& weights,
                const LstmOptions& options = {});

struct LstmCellOptions {
  int64_t units = 0;  // width of the hidden state; must be set
  bool bias = true;
  // Zoneout: in training each element of a state keeps its value with this probability; at
  // inference states are the expectation. Source: Krueger et al., "Zoneout", 2017.
  double zoneout_h = 0.0;
  double zoneout_c = 0.0;
  std::string name;  // of the layer; empty: lstm_cell_1, ...
};

struct LstmState {
  Value h;  // [N, units]
  Value c;  // [N, units]
};

// One step of lstm. x: [N, features]; h, c: [N, units], or none for zeros; returns the next ones.
// Adds the parameters <name>.weight_ih, .weight_hh, .bias_ih and .bias_hh.
LstmState lstm_cell(Value x, Value h, Value c, const LstmCellOptions& options);
// With given weights; units and bias follow from them.
LstmState lstm_cell(Value x, Value h, Value c, const RecurrentWeights& weights,
                    const LstmCellOptions& options = {});

}  // namespace thimble
