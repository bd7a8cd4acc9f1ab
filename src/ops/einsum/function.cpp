#include <thimble/ops/einsum.h>

#include "ir/function_def.h"

namespace thimble::ops::einsum_impl {
namespace {

struct EinsumOptions {
  std::string equation;
};

void describe(EinsumOptions& o, ir::OptionVisitor& v) {
  v.field("equation", o.equation, "\"btd,de->bte\": the axes of the operands and of the result");
}

// All operands have one type.
ir::ArgDoc operand(const char* name, bool optional) {
  return {.name = name,
          .doc = "any shape",
          .optional = optional,
          .types = ir::kFloatingTypes | ir::TypeSet{DType::i64, DType::i32},
          .type_of = 0};
}

}  // namespace
}  // namespace thimble::ops::einsum_impl

THIMBLE_FUNCTION_FOLDER(einsum) {
  static const FunctionDef def{
      .name = "einsum",
      .doc =
          "Sums of products by the names of axes: \"btd,de->bte\" multiplies every step by a "
          "matrix.",
      .example = "auto y = einsum(\"btd,de->bte\", {x, weight});",
      .inputs = {operand("a", false), operand("b", true), operand("c", true), operand("d", true)},
      .outputs = {{"y", "the axes behind ->"}},
      .options = ir::OptionSchema::of<EinsumOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        std::vector<Value> operands;
        for (const Value& value : in) {
          if (value) operands.push_back(value);
        }
        return {einsum(options_as<EinsumOptions>(options).equation, operands)};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
