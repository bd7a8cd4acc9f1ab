#include "harness/update_cases.h"

namespace thimble::test::lars_update_test {

THIMBLE_OP_CASES(lars_update) {
  const StateRanges ranges = {{-1.0, 1.0}};
  return {
      .cases = {update_case("plain", {3, 7}, LARS{}, ranges),
                update_case("scalar", {}, LARS{}, ranges),
                update_case("empty", {0}, LARS{}, ranges),
                update_case("no_momentum", {19}, LARS{.momentum = 0.0}),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            LARS{.momentum = 0.5,
                                 .weight_decay = 0.1,
                                 .trust_coefficient = 0.5,
                                 .epsilon = 1e-3,
                                 .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, LARS{}), "state tensors, got")},
  };
}

}  // namespace thimble::test::lars_update_test
