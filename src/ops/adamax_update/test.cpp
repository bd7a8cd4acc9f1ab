#include "harness/update_cases.h"

namespace thimble::test::adamax_update_test {

THIMBLE_OP_CASES(adamax_update) {
  const StateRanges ranges = {{-1.0, 1.0}, {0.1, 1.0}};
  return {
      .cases = {with_momentum(update_case("scheduled_momentum", {19}, Adamax{}), Adamax{}),
                update_case("plain", {3, 7}, Adamax{}, ranges),
                update_case("scalar", {}, Adamax{}, ranges),
                update_case("empty", {0}, Adamax{}, ranges),
                update_case("first_step", {19}, Adamax{}, ranges, 1),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            Adamax{.beta1 = 0.8,
                                   .beta2 = 0.5,
                                   .epsilon = 1e-3,
                                   .weight_decay = 0.1,
                                   .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, Adamax{}))},
  };
}

}  // namespace thimble::test::adamax_update_test
