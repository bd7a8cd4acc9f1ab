#include <thimble/ops/binary_cross_entropy.h>
#include <thimble/ops/mul.h>

#include "ir/function_def.h"
#include "ops/families/builder/compose.h"
#include "ops/families/loss/loss.h"

#define THIMBLE_OP binary_cross_entropy
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(binary_cross_entropy)

namespace thimble::ops::binary_cross_entropy_impl {
namespace {

struct BinaryCrossEntropy : PlainLoss {
  LOSS_KERNELS(binary_cross_entropy);
  LOSS_TARGET_GRAD(binary_cross_entropy);
  static constexpr const char* doc =
      "The cross-entropy between probabilities: reduce of -(t max(log x, -100) + (1 - t) max(log(1 "
      "- x), -100)).";
  static constexpr const char* example = "auto loss = binary_cross_entropy(sigmoid(x), t);";
  static constexpr const char* x = "x";
  static constexpr bool symmetric = false;
};

}  // namespace
}  // namespace thimble::ops::binary_cross_entropy_impl

THIMBLE_OP_FOLDER(binary_cross_entropy) { return ElementLoss<BinaryCrossEntropy>::folder(); }

namespace thimble {

Value binary_cross_entropy(Value x, Value target, Value weight, const LossOptions& options) {
  using Loss = ops::ElementLoss<ops::binary_cross_entropy_impl::BinaryCrossEntropy>;
  if (!weight) return Loss::apply(x, target, options);
  return ops::reduce_loss(weight * Loss::apply(x, target, {Reduction::none}), options.reduction);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(binary_cross_entropy) {
  static const FunctionDef binary_cross_entropy_function{
      .name = "binary_cross_entropy",
      .doc =
          "The cross-entropy between probabilities: reduce of -w (t max(log x, -100) + (1 - t) "
          "max(log(1 - x), -100)).",
      .example = "auto loss = binary_cross_entropy(sigmoid(x), t);",
      .inputs = {{"x", "any shape: probabilities"},
                 {"target", "the same shape: probabilities"},
                 {"weight", "a shape that broadcasts with it", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {binary_cross_entropy(in[0], in[1], in[2], options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&binary_cross_entropy_function};
  return defs;
}
