#include <thimble/ops/adamw_update.h>

#include "ops/families/update/adam.h"
#include "ops/families/update/moments.h"

namespace thimble::ops::adamw_update_impl {
namespace {

struct AdamWRule : AdamFamily<AdamW, AdamWRule> {
  static constexpr const char* name = "adamw_update";
  static constexpr const char* optimizer = "adamw";
  static constexpr const char* type_name = "AdamW";
  static constexpr const char* rows_name = "adamw_rows_update";
  static constexpr const char* part_name = "adamw_part_update";
  static constexpr const char* rounded_name = "adamw_rounded_update";
  static constexpr const char* residual_name = "adamw_residual_update";
  static constexpr const char* doc =
      "AdamW, in place: param *= 1 - lr * weight_decay, then a step of Adam without "
      "weight decay. Equal to torch.optim.AdamW.";
  static bool decoupled(const AdamW&) { return true; }
};

}  // namespace
}  // namespace thimble::ops::adamw_update_impl

THIMBLE_OPTIMIZER_FOLDER(adamw_update) { return Update<AdamWRule>::folder(); }

namespace thimble {

void describe(AdamW& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v, {.weight_decay = "pull towards zero"});
  v.field("amsgrad", a.amsgrad, "divide by the largest second moment so far");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of each moment: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
  v.field("epsilon_hat", a.epsilon_hat,
          "epsilon is added before the root is freed of its bias, as in Keras");
}

AdamW::operator Optimizer() const {
  return ops::Update<ops::adamw_update_impl::AdamWRule>::optimizer(*this);
}

}  // namespace thimble
