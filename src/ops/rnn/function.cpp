#include <thimble/ops/rnn.h>

#include "ops/families/recurrent/recurrent_options.h"

namespace thimble {

void describe(RnnOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("relu", o.relu, "in place of tanh");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(RnnCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("relu", o.relu, "in place of tanh");
  v.field("zoneout", o.zoneout, "share of the state that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(rnn) {
  static const FunctionDef layer{
      .name = "rnn",
      .doc = "A plain recurrent layer: h[t] = act(W_ih x[t] + b_ih + W_hh h[t - 1] + b_hh).",
      .example = "auto [y, h] = rnn(x, {.units = 64});",
      .inputs = {{.name = "x", .doc = "[N, T, features]", .batch_rank = 3},
                 {.name = "h0",
                  .doc = "[N, layers * directions, units]; none: zeros",
                  .optional = true,
                  .batch_rank = 3},
                 {.name = "lengths",
                  .doc = "[N], i32, the steps of each sequence that count; none: all",
                  .optional = true,
                  .batch_rank = 1}},
      .outputs = {{.name = "y", .doc = "[N, T, directions * units]", .batch_rank = 3},
                  {.name = "h",
                   .doc = "[N, layers * directions, units], after the last step",
                   .batch_rank = 3}},
      .parameters = {{"weight_ih_l0", "[units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[units, units]"},
                     {"bias_ih_l0", "[units]", true},
                     {"bias_hh_l0", "[units]", true}},
      .options = ir::OptionSchema::of<RnnOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const RnnResult r = rnn(in[0], in[1], in[2], options_as<RnnOptions>(options));
        return {r.y, r.h};
      },
  };
  static const FunctionDef cell{
      .name = "rnn_cell",
      .doc = "One step of rnn.",
      .example = "auto next = rnn_cell(x, h, {.units = 64});",
      .inputs = {{"x", "[N, features]"}, {"h", "[N, units]; none: zeros", true}},
      .outputs = {{"h", "[N, units]"}},
      .parameters = {{"weight_ih", "[units, features]"},
                     {"weight_hh", "[units, units]"},
                     {"bias_ih", "[units]", true},
                     {"bias_hh", "[units]", true}},
      .options = ir::OptionSchema::of<RnnCellOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {rnn_cell(in[0], in[1], options_as<RnnCellOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
