#include <thimble/ops/adam_update.h>

#include "ops/families/update/adam.h"
#include "ops/families/update/moments.h"

namespace thimble::ops::adam_update_impl {
namespace {

struct AdamRule : AdamFamily<Adam, AdamRule> {
  static constexpr const char* name = "adam_update";
  static constexpr const char* optimizer = "adam";
  static constexpr const char* rows_name = "adam_rows_update";
  static constexpr const char* part_name = "adam_part_update";
  static constexpr const char* rounded_name = "adam_rounded_update";
  static constexpr const char* residual_name = "adam_residual_update";
  static constexpr const char* doc =
      "Adam, in place: g = grad + weight_decay * param; m += (1 - beta1) * (g - m); "
      "v = beta2 * v + (1 - beta2) * g^2; param -= lr * m / (1 - beta1^step) / "
      "(sqrt(v / (1 - beta2^step)) + epsilon); with amsgrad the largest v so far stands in for v; "
      "with decoupled_weight_decay as AdamW. "
      "Equal to torch.optim.Adam.";
  static bool decoupled(const Adam& s) { return s.decoupled_weight_decay; }
};

}  // namespace
}  // namespace thimble::ops::adam_update_impl

THIMBLE_OPTIMIZER_FOLDER(adam_update) { return Update<AdamRule>::folder(); }

namespace thimble {

void describe(Adam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("amsgrad", a.amsgrad, "divide by the largest second moment so far");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of each moment: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
  v.field("epsilon_hat", a.epsilon_hat,
          "epsilon is added before the root is freed of its bias, as in Keras");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
}

Adam::operator Optimizer() const {
  return ops::Update<ops::adam_update_impl::AdamRule>::optimizer(*this);
}

}  // namespace thimble
