#include <thimble/ops/lstm.h>

#include "ops/families/recurrent/recurrent_options.h"

namespace thimble {

void describe(LstmOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("projection", o.projection, "width that the hidden state is projected to; 0: none");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(LstmCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("zoneout_h", o.zoneout_h, "share of the hidden state that stays as it was, in training");
  v.field("zoneout_c", o.zoneout_c, "share of the cell that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(lstm) {
  static const FunctionDef layer{
      .name = "lstm",
      .doc = "Long short-term memory, the gates in the order input, forget, cell, output.",
      .example = "auto [y, h, c] = lstm(x, {.units = 64, .layers = 2});",
      .inputs = {{.name = "x", .doc = "[N, T, features]", .batch_rank = 3},
                 {.name = "h0",
                  .doc = "[N, layers * directions, units or projection]; none: zeros",
                  .optional = true,
                  .batch_rank = 3},
                 {.name = "c0",
                  .doc = "[N, layers * directions, units]; none: zeros",
                  .optional = true,
                  .batch_rank = 3},
                 {.name = "lengths",
                  .doc = "[N], i32, the steps of each sequence that count; none: all",
                  .optional = true,
                  .batch_rank = 1}},
      .outputs = {{.name = "y", .doc = "[N, T, directions * units or projection]", .batch_rank = 3},
                  {.name = "h",
                   .doc = "[N, layers * directions, units or projection], after the last step",
                   .batch_rank = 3},
                  {.name = "c",
                   .doc = "[N, layers * directions, units]: the cells",
                   .batch_rank = 3}},
      .parameters = {{"weight_ih_l0", "[4 units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[4 units, units or projection]"},
                     {"bias_ih_l0", "[4 units]", true},
                     {"bias_hh_l0", "[4 units]", true},
                     {"weight_hr_l0", "[projection, units]", true}},
      .options = ir::OptionSchema::of<LstmOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const LstmResult r = lstm(in[0], in[1], in[2], in[3], options_as<LstmOptions>(options));
        return {r.y, r.h, r.c};
      },
  };
  static const FunctionDef cell{
      .name = "lstm_cell",
      .doc = "One step of lstm.",
      .example = "auto [h2, c2] = lstm_cell(x, h, c, {.units = 64});",
      .inputs = {{"x", "[N, features]"},
                 {"h", "[N, units]; none: zeros", true},
                 {"c", "[N, units]; none: zeros", true}},
      .outputs = {{"h", "[N, units]"}, {"c", "[N, units]"}},
      .parameters = {{"weight_ih", "[4 units, features]"},
                     {"weight_hh", "[4 units, units]"},
                     {"bias_ih", "[4 units]", true},
                     {"bias_hh", "[4 units]", true}},
      .options = ir::OptionSchema::of<LstmCellOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const LstmState s = lstm_cell(in[0], in[1], in[2], options_as<LstmCellOptions>(options));
        return {s.h, s.c};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
