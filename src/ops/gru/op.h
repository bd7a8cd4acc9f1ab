#pragma once

#include <thimble/graph.h>
#include <thimble/ops/rnn.h>

#include <cstdint>
#include <string>
#include <vector>

namespace thimble {

struct GruOptions {
  int64_t units = 0;           // width of the hidden state; must be set
  int64_t layers = 1;          // stacked layers
  bool bidirectional = false;  // adds a second scan in reverse order to each layer
  double dropout = 0.0;        // between layers, 0 to 1; no effect with one layer
  bool bias = true;
  std::string name;  // of the layer; empty: gru_1, gru_2, ...
};

// Gated recurrent unit. With a = W_ih x[t] + b_ih and u = W_hh h[t - 1] + b_hh, each in the parts
// r, z, n: r = sigmoid(a_r + u_r), z = sigmoid(a_z + u_z), n = tanh(a_n + r u_n),
// h[t] = (1 - z) n + z h[t - 1].
// x: [N, T, features], T at least 1; h0: [N, layers * directions, units], or none for zeros; f32.
// Adds, for every layer k, the parameters <name>.weight_ih_lk [3 units, features], .weight_hh_lk
// [3 units, units], .bias_ih_lk and .bias_hh_lk [3 units], and the same with _reverse, all first
// U(-1/sqrt(units), 1/sqrt(units)): names, order of the gates and values as torch.nn.GRU.
// Source: Cho et al., 2014, with the reset after the product, as PyTorch has it.
// Errors: Error where sizes do not fit.
RnnResult gru(Value x, const GruOptions& options);
RnnResult gru(Value x, Value h0, const GruOptions& options);
// The same for sequences of different lengths, padded to T steps. lengths: [N], i32, 1 to T. y is 0
// in the padding, h is the state after the last valid step, and reverse scans begin there, as with
// PyTorch's pack_padded_sequence.
RnnResult gru(Value x, Value h0, Value lengths, const GruOptions& options);
// With given weights, in the order that rnn has them; of the options bidirectional, dropout and
// name count, the others follow from weights.
RnnResult gru(Value x, Value h0, const std::vector<RecurrentWeights>& weights,
              const GruOptions& options = {});

struct GruCellOptions {
  int64_t units = 0;  // width of the hidden state; must be set
  bool bias = true;
  // Zoneout: in training each element of the state keeps its value with this probability; at
  // inference the state is the expectation. Source: Krueger et al., "Zoneout", 2017.
  double zoneout = 0.0;
  std::string name;  // of the layer; empty: gru_cell_1, ...
};

// One step of gru. x: [N, features]; h: [N, units], or none for zeros; returns the next h. Adds the
// parameters <name>.weight_ih, .weight_hh, .bias_ih and .bias_hh.
Value gru_cell(Value x, Value h, const GruCellOptions& options);
// With given weights; units and bias follow from them.
Value gru_cell(Value x, Value h, const RecurrentWeights& weights,
               const GruCellOptions& options = {});

}  // namespace thimble
