#include <thimble/ops/adamw_update.h>

#include "ops/adamw_update/attrs.h"
#include "ops/families/update/adam.h"

namespace thimble::ops::adamw_update_impl {
namespace {

struct AdamWRule : AdamFamily<AdamW, AdamWRule> {
  static constexpr const char* name = "adamw_update";
  static constexpr const char* optimizer = "adamw";
  static constexpr const char* rows_name = "adamw_rows_update";
  static constexpr const char* doc =
      "AdamW, in place: param *= 1 - lr * weight_decay, then a step of Adam without "
      "weight decay. Equal to torch.optim.AdamW.";
  static bool decoupled(const AdamW&) { return true; }
};

}  // namespace
}  // namespace thimble::ops::adamw_update_impl

THIMBLE_OP_FOLDER(adamw_update) { return Update<AdamWRule>::folder(); }

namespace thimble {

AdamW::operator Optimizer() const {
  return ops::Update<ops::adamw_update_impl::AdamWRule>::optimizer(*this);
}

}  // namespace thimble
