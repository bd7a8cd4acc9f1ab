// Options shared by rnn, gru and lstm and their cells.
#pragma once

#include "ir/function_def.h"

namespace thimble::ops {

template <class Options>
void describe_layers(Options& o, ir::OptionVisitor& v) {
  v.field("units", o.units, "width of the hidden state; must be set");
  v.field("layers", o.layers, "one upon the other");
  v.field("bidirectional", o.bidirectional, "a second scan from the last step to the first");
  v.field("dropout", o.dropout, "between layers, 0 to 1: none where there is one layer");
  v.field("bias", o.bias, "with biases");
}

template <class Options>
void describe_cell(Options& o, ir::OptionVisitor& v) {
  v.field("units", o.units, "width of the hidden state; must be set");
  v.field("bias", o.bias, "with biases");
}

}  // namespace thimble::ops
