#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

struct RnnOptions {
  int64_t units = 0;           // width of the hidden state; must be set
  int64_t layers = 1;          // stacked layers
  bool bidirectional = false;  // adds a second scan in reverse order to each layer
  double dropout = 0.0;        // between layers, 0 to 1; no effect with one layer
  bool bias = true;
  bool relu = false;  // relu instead of tanh
  std::string name;   // of the layer; empty: rnn_1, rnn_2, ...
};

struct RnnResult {
  Value y;  // [N, T, directions * units]: the hidden states of the last layer at every step
  Value h;  // [N, layers * directions, units]: of every layer and direction at its last step
};

// A plain recurrent layer (Elman): h[t] = act(W_ih x[t] + b_ih + W_hh h[t - 1] + b_hh).
// x: [N, T, features], T at least 1; h0: [N, layers * directions, units], or none for zeros; f32.
// Adds, for every layer k, the parameters <name>.weight_ih_lk [units, features], .weight_hh_lk
// [units, units], .bias_ih_lk and .bias_hh_lk [units], and the same with _reverse, all first
// U(-1/sqrt(units), 1/sqrt(units)): names, order and values as torch.nn.RNN.
// Errors: Error where sizes do not fit.
RnnResult rnn(Value x, const RnnOptions& options);
RnnResult rnn(Value x, Value h0, const RnnOptions& options);
// The same for sequences of different lengths, padded to T steps. lengths: [N], i32, 1 to T. y is 0
// in the padding, h is the state after the last valid step, and reverse scans begin there, as with
// PyTorch's pack_padded_sequence.
RnnResult rnn(Value x, Value h0, Value lengths, const RnnOptions& options);

// The weights of one layer in one direction, of rnn, gru and lstm and of their cells (gates: 1, 3
// and 4), given instead of created: those of another layer, or what a graph computes. Weights that
// several layers or the steps of an unrolled cell share get the sum of their gradients.
struct RecurrentWeights {
  Value ih;       // [gates * units, features]
  Value hh;       // [gates * units, units], or [gates * units, projection]
  Value bias_ih;  // [gates * units], or none
  Value bias_hh;  // likewise; both or neither
  Value hr;       // [projection, units] of an lstm that projects, or none
};
// weights: of the first layer (forward, then backward where it is bidirectional), the second and so
// on. Of the options bidirectional, dropout, relu and name count; the others follow from weights.
RnnResult rnn(Value x, Value h0, const std::vector<RecurrentWeights>& weights,
              const RnnOptions& options = {});

struct RnnCellOptions {
  int64_t units = 0;  // width of the hidden state; must be set
  bool bias = true;
  bool relu = false;  // relu instead of tanh
  // Zoneout: in training each element of the state keeps its value with this probability; at
  // inference the state is the expectation. Source: Krueger et al., "Zoneout", 2017.
  double zoneout = 0.0;
  std::string name;  // of the layer; empty: rnn_cell_1, ...
};

// One step of rnn. x: [N, features]; h: [N, units], or none for zeros; returns the next h. Adds the
// parameters <name>.weight_ih, .weight_hh, .bias_ih and .bias_hh.
Value rnn_cell(Value x, Value h, const RnnCellOptions& options);
// With given weights; units and bias follow from them.
Value rnn_cell(Value x, Value h, const RecurrentWeights& weights,
               const RnnCellOptions& options = {});

}  // namespace thimble
