#include "ops/families/update/adam_cases.h"

namespace thimble::test::adamw_update_test {

THIMBLE_OP_CASES(adamw_update) { return adam_cases<AdamW>(); }

THIMBLE_OP_CASES(adamw_rows_update) {
  const AdamW settings{.weight_decay = 0.0};
  return {.cases = rows_cases(settings), .rejects = rows_rejects(settings)};
}

THIMBLE_OP_CASES(adamw_rounded_update) {
  OpCases table{.cases = rounded_cases(AdamW{.weight_decay = 0.1}),
                .rejects = rounded_rejects(AdamW{})};
  table.cases.push_back(
      rounded_case("amsgrad", {70}, DType::i8, AdamW{.amsgrad = true, .maximize = true}));
  const OpCase coded = rounded_case("", {4096}, DType::i8, AdamW{.state_bits = 8});
  table.rejects.push_back({"state_of_8_bits", coded.inputs, coded.attrs, "exp_avg must be f32"});
  return table;
}

}  // namespace thimble::test::adamw_update_test
