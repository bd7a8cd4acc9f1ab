#include "harness/update_cases.h"

namespace thimble::test::adagrad_update_test {

THIMBLE_OP_CASES(adagrad_update) {
  return {
      .cases = {update_case("plain", {3, 7}, Adagrad{}), update_case("scalar", {}, Adagrad{}),
                update_case("empty", {0}, Adagrad{}),
                update_case("late_step", {19}, Adagrad{.lr_decay = 0.1}, {}, 1000),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            Adagrad{.weight_decay = 0.1, .epsilon = 1e-3, .maximize = true})},
      .rejects = {without_last_state(update_case("", {2}, Adagrad{}))},
  };
}

THIMBLE_OP_CASES(adagrad_rows_update) {
  const Adagrad settings{.lr_decay = 0.1, .epsilon = 1e-3, .maximize = true};
  return {.cases = rows_cases(settings), .rejects = rows_rejects(settings)};
}

}  // namespace thimble::test::adagrad_update_test
