#include <thimble/ops/gru.h>

#include "ops/families/recurrent/recurrent_options.h"

namespace thimble {

void describe(GruOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(GruCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("zoneout", o.zoneout, "share of the state that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(gru) {
  static const FunctionDef layer{
      .name = "gru",
      .doc = "Gated recurrent unit, the gates in the order reset, update, new.",
      .example = "auto [y, h] = gru(x, {.units = 64});",
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
      .parameters = {{"weight_ih_l0", "[3 units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[3 units, units]"},
                     {"bias_ih_l0", "[3 units]", true},
                     {"bias_hh_l0", "[3 units]", true}},
      .options = ir::OptionSchema::of<GruOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const RnnResult r = gru(in[0], in[1], in[2], options_as<GruOptions>(options));
        return {r.y, r.h};
      },
  };
  static const FunctionDef cell{
      .name = "gru_cell",
      .doc = "One step of gru.",
      .example = "auto next = gru_cell(x, h, {.units = 64});",
      .inputs = {{"x", "[N, features]"}, {"h", "[N, units]; none: zeros", true}},
      .outputs = {{"h", "[N, units]"}},
      .parameters = {{"weight_ih", "[3 units, features]"},
                     {"weight_hh", "[3 units, units]"},
                     {"bias_ih", "[3 units]", true},
                     {"bias_hh", "[3 units]", true}},
      .options = ir::OptionSchema::of<GruCellOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {gru_cell(in[0], in[1], options_as<GruCellOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
