#include <thimble/ops/affine.h>
#include <thimble/ops/binary_cross_entropy_with_logits.h>
#include <thimble/ops/log_sigmoid.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/sub.h>

#include "ir/function_def.h"
#include "ops/families/builder/compose.h"
#include "ops/families/loss/loss.h"

#define THIMBLE_OP binary_cross_entropy_with_logits
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(binary_cross_entropy_with_logits)

namespace thimble::ops::binary_cross_entropy_with_logits_impl {
namespace {

struct BinaryCrossEntropy : PlainLoss {
  LOSS_KERNELS(binary_cross_entropy_with_logits);
  LOSS_TARGET_GRAD(binary_cross_entropy_with_logits);
  static constexpr const char* doc =
      "Cross-entropy between probabilities t and sigmoid(x): reduce of max(x, 0) - x t + "
      "log(1 + exp(-|x|)); the reduction is mean, sum, or batch_mean = sum / N.";
  static constexpr const char* example =
      "auto loss = binary_cross_entropy_with_logits(logits, images, {.reduction = "
      "Reduction::batch_mean});";
  static constexpr const char* x = "logits";
  static constexpr const char* t = "targets";
  static constexpr bool symmetric = false;
};

}  // namespace
}  // namespace thimble::ops::binary_cross_entropy_with_logits_impl

THIMBLE_OP_FOLDER(binary_cross_entropy_with_logits) {
  return ElementLoss<BinaryCrossEntropy>::folder();
}

namespace thimble {

Value binary_cross_entropy_with_logits(Value logits, Value targets, const LossOptions& options) {
  return ops::ElementLoss<ops::binary_cross_entropy_with_logits_impl::BinaryCrossEntropy>::apply(
      logits, targets, options);
}

Value binary_cross_entropy_with_logits(Value logits, Value targets, Value weight, Value pos_weight,
                                       const LossOptions& options) {
  if (!weight && !pos_weight) return binary_cross_entropy_with_logits(logits, targets, options);
  Value terms;
  if (pos_weight) {
    ops::require_same_shape("binary_cross_entropy_with_logits", logits, targets);
    const Value share = 1.0 + (pos_weight - 1.0) * targets;
    terms = (1.0 - targets) * logits - share * log_sigmoid(logits);
  } else {
    terms = binary_cross_entropy_with_logits(logits, targets, {Reduction::none});
  }
  return ops::reduce_loss(weight ? weight * terms : terms, options.reduction);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(binary_cross_entropy_with_logits) {
  static const FunctionDef binary_cross_entropy_with_logits_function{
      .name = "binary_cross_entropy_with_logits",
      .doc =
          "Cross-entropy between probabilities t and sigmoid(x): reduce of -weight (pos_weight t "
          "log sigmoid(x) + (1 - t) log(1 - sigmoid(x))).",
      .inputs = {{"logits", "any shape"},
                 {"targets", "the same shape, in [0, 1]"},
                 {"weight", "a shape that broadcasts: what each term counts", true},
                 {"pos_weight", "a shape that broadcasts: what t log sigmoid(x) counts", true}},
      .outputs = {{"loss", "one number, or the terms"}},
      .options = ir::OptionSchema::of<LossOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {binary_cross_entropy_with_logits(in[0], in[1], in[2], in[3],
                                                 options_as<LossOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&binary_cross_entropy_with_logits_function};
  return defs;
}
