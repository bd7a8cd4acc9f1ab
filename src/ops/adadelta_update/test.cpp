#include "harness/update_cases.h"

namespace thimble::test::adadelta_update_test {

THIMBLE_OP_CASES(adadelta_update) {
  return {
      .cases = {update_case("plain", {3, 7}, Adadelta{}), update_case("scalar", {}, Adadelta{}),
                update_case("empty", {0}, Adadelta{}),
                update_case("keeps_everything", {19}, Adadelta{.rho = 1.0}),
                update_case(
                    "weight_decay_up_over_many_tiles", {70001},
                    Adadelta{.rho = 0.5, .epsilon = 1e-3, .weight_decay = 0.1, .maximize = true})},
      .rejects = {without_last_state(update_case("", {2}, Adadelta{}))},
  };
}

}  // namespace thimble::test::adadelta_update_test
