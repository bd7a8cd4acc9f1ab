#include "ops/families/update/adam_cases.h"

namespace thimble::test::adamw_update_test {

THIMBLE_OP_CASES(adamw_update) { return adam_cases<AdamW>(); }

THIMBLE_OP_CASES(adamw_rows_update) {
  const AdamW settings{.weight_decay = 0.0};
  return {.cases = rows_cases(settings), .rejects = rows_rejects(settings)};
}

}  // namespace thimble::test::adamw_update_test
