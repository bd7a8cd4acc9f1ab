#include "ops/families/update/adam_cases.h"

namespace thimble::test::adam_update_test {

THIMBLE_OP_CASES(adam_update) {
  OpCases table = adam_cases<Adam>();
  table.cases.push_back(with_momentum(update_case("scheduled_momentum", {19}, Adam{}), Adam{}));
  return table;
}

THIMBLE_OP_CASES(adam_rows_update) {
  OpCases table{.cases = rows_cases(Adam{.maximize = true}), .rejects = rows_rejects(Adam{})};
  table.cases.push_back(rows_case("amsgrad", 9, 5, 3, Adam{.amsgrad = true}));
  const OpCase decay = rows_case("", 5, 3, 2, Adam{.weight_decay = 0.5});
  table.rejects.push_back({"decay", decay.inputs, decay.attrs, "weight_decay reaches rows"});
  return table;
}

THIMBLE_OP_CASES(adam_part_update) {
  OpCases table{.cases = part_cases(Adam{.weight_decay = 0.1}), .rejects = part_rejects(Adam{})};
  table.cases.push_back(part_case("amsgrad", {4, 6}, {1, {1, 5}}, Adam{.amsgrad = true}));
  const OpCase coded =
      part_case("", {64, 64}, {1, {3, 60}}, Adam{.state_bits = 8, .min_8bit_size = 1});
  table.rejects.push_back({"state_of_8_bits", coded.inputs, coded.attrs, "exp_avg must be f32"});
  return table;
}

THIMBLE_OP_CASES(adam_rounded_update) { return adam_integer_cases<Adam>(false); }
THIMBLE_OP_CASES(adam_residual_update) { return adam_integer_cases<Adam>(true); }

}  // namespace thimble::test::adam_update_test
