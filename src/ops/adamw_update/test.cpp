#include "ops/families/update/adam_cases.h"

namespace thimble::test::adamw_update_test {

THIMBLE_OP_CASES(adamw_update) { return adam_cases<AdamW>(); }

THIMBLE_OP_CASES(adamw_rows_update) {
  const AdamW settings{.weight_decay = 0.0};
  return {.cases = rows_cases(settings), .rejects = rows_rejects(settings)};
}

THIMBLE_OP_CASES(adamw_rounded_update) { return adam_integer_cases<AdamW>(false); }
THIMBLE_OP_CASES(adamw_residual_update) { return adam_integer_cases<AdamW>(true); }

}  // namespace thimble::test::adamw_update_test
