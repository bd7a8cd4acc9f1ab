#include "ops/families/update/adam_cases.h"

namespace thimble::test::adamw_update_test {

THIMBLE_OP_CASES(adamw_update) { return adam_cases<AdamW>(); }

THIMBLE_OP_CASES(adamw_rows_update) {
  const AdamW settings{.weight_decay = 0.0};
  return {.cases = rows_cases(settings), .rejects = rows_rejects(settings)};
}

THIMBLE_OP_CASES(adamw_part_update) {
  OpCases table{.cases = part_cases(AdamW{.weight_decay = 0.1}), .rejects = part_rejects(AdamW{})};
  table.cases.push_back(part_case("amsgrad", {4, 6}, {1, {1, 5}}, AdamW{.amsgrad = true}));
  const OpCase coded =
      part_case("", {64, 64}, {1, {3, 60}}, AdamW{.state_bits = 8, .min_8bit_size = 1});
  table.rejects.push_back({"state_of_8_bits", coded.inputs, coded.attrs, "exp_avg must be f32"});
  return table;
}

THIMBLE_OP_CASES(adamw_rounded_update) { return adam_integer_cases<AdamW>(false); }
THIMBLE_OP_CASES(adamw_residual_update) { return adam_integer_cases<AdamW>(true); }

}  // namespace thimble::test::adamw_update_test
