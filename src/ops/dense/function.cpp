#include <thimble/ops/dense.h>
#include <thimble/ops/matmul.h>

#include "ir/function_def.h"

namespace thimble {

void describe(DenseOptions& o, ir::OptionVisitor& v) {
  v.field("units", o.units, "outputs; must be set");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(features), 1/sqrt(features))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(dense) {
  static const FunctionDef dense_function{
      .name = "dense",
      .doc = "A fully connected layer over the last dimension: y = x W^T + b.",
      .example = "auto y = dense(flatten(images), {.units = 10});",
      .inputs = {{"x", "[N, ..., features]"},
                 {"weight", "[units, features]", true},
                 {"bias", "[units]", true}},
      .outputs = {{"y", "[N, ..., units]"}},
      .parameters = {{"weight", "[units, features]"}, {"bias", "[units]", true}},
      .options = ir::OptionSchema::of<DenseOptions>(),
      .required = {"units"},
      .of_parameters = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        if (in[1]) return {matmul(in[0], in[1], in[2], {.transpose_b = true})};
        return {dense(in[0], options_as<DenseOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&dense_function};
  return defs;
}
