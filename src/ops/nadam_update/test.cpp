#include "harness/update_cases.h"

namespace thimble::test::nadam_update_test {

THIMBLE_OP_CASES(nadam_update) {
  const StateRanges ranges = {{-1.0, 1.0}, {0.01, 1.0}, {0.2, 0.8}};
  return {
      .cases = {with_momentum(update_case("scheduled_momentum", {19}, NAdam{}), NAdam{}),
                update_case("plain", {3, 7}, NAdam{}, ranges),
                update_case("scalar", {}, NAdam{}, ranges),
                update_case("empty", {0}, NAdam{}, ranges),
                update_case("first_step", {19}, NAdam{}, {{0.0, 0.0}, {0.0, 0.0}, {1.0, 1.0}}, 1),
                update_case("decoupled", {19},
                            NAdam{.weight_decay = 0.1, .decoupled_weight_decay = true}, ranges),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            NAdam{.beta1 = 0.8,
                                  .beta2 = 0.95,
                                  .epsilon = 1e-3,
                                  .weight_decay = 0.1,
                                  .momentum_decay = 0.1,
                                  .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, NAdam{}))},
  };
}

}  // namespace thimble::test::nadam_update_test
