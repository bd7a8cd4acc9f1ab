#include "harness/update_cases.h"

namespace thimble::test::lamb_update_test {

THIMBLE_OP_CASES(lamb_update) {
  const StateRanges ranges = {{-1.0, 1.0}, {0.01, 1.0}};
  return {
      .cases = {update_case("plain", {3, 7}, LAMB{}, ranges),
                update_case("scalar", {}, LAMB{}, ranges),
                update_case("empty", {0}, LAMB{}, ranges),
                update_case("no_epsilon", {5}, LAMB{.epsilon = 0.0}, ranges),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            LAMB{.beta1 = 0.8,
                                 .beta2 = 0.95,
                                 .epsilon = 1e-3,
                                 .weight_decay = 0.1,
                                 .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, LAMB{}))},
  };
}

}  // namespace thimble::test::lamb_update_test
