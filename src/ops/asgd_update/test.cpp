#include "harness/update_cases.h"

namespace thimble::test::asgd_update_test {

THIMBLE_OP_CASES(asgd_update) {
  return {
      .cases = {update_case("plain", {3, 7}, ASGD{}), update_case("scalar", {}, ASGD{}),
                update_case("empty", {0}, ASGD{}),
                update_case("first_step", {19}, ASGD{.t0 = 0}, {{0.0, 0.0}, {0.0, 0.0}}, 1),
                update_case("averages", {19}, ASGD{.t0 = 2}, {}, 7),
                update_case(
                    "weight_decay_up_over_many_tiles", {70001},
                    ASGD{
                        .lambd = 0.1, .alpha = 0.5, .t0 = 0, .weight_decay = 0.1, .maximize = true},
                    {}, 9)},
      .rejects = {without_last_state(update_case("", {2}, ASGD{}))},
  };
}

}  // namespace thimble::test::asgd_update_test
