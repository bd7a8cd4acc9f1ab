// Shared by recurrent layers: parameters, layers, directions.
#pragma once

#include <thimble/ops/rnn.h>

#include "ir/graph.h"
#include "ops/families/recurrent/recurrent_dims.h"

namespace thimble::ops {

// Attributes of the ops that run one layer over all steps.
struct ScanAttrs {
  bool reverse = false;
  bool relu = false;
};
inline void describe(ScanAttrs& a, ir::FieldVisitor& v) {
  v.field("reverse", a.reverse, "from the last step to the first");
  v.field("relu", a.relu, "relu in place of tanh; rnn alone");
}

// Checks x, [N, T, gates * units], the hidden state's weights, [gates * units, units], and optional
// states, [N, units], at input 2 and after it, except input `skip`. Returns [N, T, units].
Shape check_scan(const ir::InferContext& c, int64_t gates, int skip = -1);

// Sizes of a scan whose hidden states have that shape.
recurrent_dims scan_sizes(const ScanAttrs& attrs, const Shape& h);

// The hidden state before each step: h, [N, T, units], shifted by one step; the first is h0 or
// zeros.
Value states_before(Value h, Value h0, bool reverse);

// [N, T, width] as [N * T, width].
Value all_steps(Value sequence);

// x times the input weights, [N, T, gates * units]. with_hidden_bias: adds both biases.
Value project(Value x, const RecurrentWeights& weights, bool with_hidden_bias);

struct Scanned {
  Value h;  // [N, T, units]
  Value c;  // the cell state of an LSTM, of the same shape
};
struct RecurrentOptions {
  int64_t units;
  int64_t layers = 1;
  bool bidirectional = false;
  double dropout = 0.0;
  bool bias = true;
  bool relu = false;
  std::string name;
  int64_t projection = 0;  // width of the hidden state if it differs from the cell's
};

// Floating-point operations of the products with weight_hh, for cells with that many gates; equal
// in backward.
template <int gates>
double scan_flops(const ir::Params& params) {
  const auto d = params.as<recurrent_dims>();
  return 2.0 * gates * d.batch * d.steps * d.units * d.units;
}

// The parameters of a layer that takes x.
RecurrentWeights recurrent_weights(const ir::LayerScope& layer, Value x, int64_t gates,
                                   const RecurrentOptions& options, const std::string& suffix);

// A kind of recurrent layer.
struct RecurrentKind {
  const char* type;
  int64_t gates;
  Scanned (*scan)(Value x, const RecurrentWeights& weights, Value h0, Value c0,
                  const ScanAttrs& attrs);
};

template <class T>
RecurrentOptions recurrent_options(const T& o, bool relu = false) {
  return {o.units, o.layers, o.bidirectional, o.dropout, o.bias, relu, o.name};
}

struct RecurrentResult {
  Value y;  // [N, T, directions * width of the hidden state]
  Value h;  // [N, layers * directions, width of the hidden state]
  Value c;  // [N, layers * directions, units], or none
};
// h0, c0: of the shapes of h and c, or none for zeros. lengths: [N], i32, the valid steps of each
// sequence; none: all. In the other steps y is 0; h and c are those after the last valid step, and
// reverse scans begin there. Throws Error.
RecurrentResult recurrent_layers(const RecurrentKind& kind, Value x, Value h0, Value c0,
                                 Value lengths, const RecurrentOptions& options);
// The same with given weights, from which units, layers, bias and projection follow.
RecurrentResult recurrent_layers(const RecurrentKind& kind, Value x, Value h0, Value c0,
                                 const std::vector<RecurrentWeights>& weights,
                                 RecurrentOptions options);

// One step of a layer. x: [N, features]; h, c: [N, units] or none. Returns [N, units].
Scanned recurrent_cell(const RecurrentKind& kind, Value x, Value h, Value c,
                       const RecurrentOptions& options);
// The same with given weights, from which units and bias follow.
Scanned recurrent_cell(const RecurrentKind& kind, Value x, Value h, Value c,
                       const RecurrentWeights& weights, RecurrentOptions options);

// Zoneout (Krueger et al., 2017). In training each element keeps its previous state with this
// probability; at inference, when dropout does nothing, the result is the expectation. before: none
// for zeros.
Value zoned_out(Value before, Value next, double share);

// Throws Error naming the option unless it lies in [0, 1].
void check_share(const char* type, const char* option, double share);

}  // namespace thimble::ops
