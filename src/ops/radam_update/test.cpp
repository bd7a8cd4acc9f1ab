#include "harness/update_cases.h"

namespace thimble::test::radam_update_test {

THIMBLE_OP_CASES(radam_update) {
  const StateRanges ranges = {{-1.0, 1.0}, {0.01, 1.0}};
  return {
      .cases = {with_momentum(update_case("scheduled_momentum", {19}, RAdam{}), RAdam{}),
                update_case("plain", {3, 7}, RAdam{}, ranges),
                update_case("scalar", {}, RAdam{}, ranges),
                update_case("empty", {0}, RAdam{}, ranges),
                update_case("adaptive", {19}, RAdam{}, ranges, 8),
                update_case("decoupled", {19},
                            RAdam{.weight_decay = 0.1, .decoupled_weight_decay = true}, ranges),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            RAdam{.beta1 = 0.8,
                                  .beta2 = 0.95,
                                  .epsilon = 1e-3,
                                  .weight_decay = 0.1,
                                  .maximize = true},
                            ranges, 100)},
      .rejects = {without_last_state(update_case("", {2}, RAdam{}))},
  };
}

}  // namespace thimble::test::radam_update_test
