// Options and arguments shared by rnn, gru and lstm and their cells.
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

// Arguments of the layers.
inline const ir::ArgDoc kSequences = {.name = "x", .doc = "[N, T, features]", .batch_rank = 3};
inline const ir::ArgDoc kHidden = {.name = "h0",
                                   .doc = "[N, layers * directions, units]; none: zeros",
                                   .optional = true,
                                   .batch_rank = 3};
inline const ir::ArgDoc kLengths = {.name = "lengths",
                                    .doc = "[N], the steps of each sequence that count; none: all",
                                    .optional = true,
                                    .batch_rank = 1,
                                    .types = DType::i32};
inline const ir::ArgDoc kSteps = {
    .name = "y", .doc = "[N, T, directions * units]", .batch_rank = 3};
inline const ir::ArgDoc kLastHidden = {
    .name = "h", .doc = "[N, layers * directions, units], after the last step", .batch_rank = 3};

}  // namespace thimble::ops
