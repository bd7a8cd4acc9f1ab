#include "harness/update_cases.h"

namespace thimble::test::rprop_update_test {

THIMBLE_OP_CASES(rprop_update) {
  const StateRanges ranges = {{-1.0, 1.0}, {0.01, 1.0}};
  return {
      .cases = {update_case("plain", {3, 7}, Rprop{}, ranges),
                update_case("scalar", {}, Rprop{}, ranges),
                update_case("empty", {0}, Rprop{}, ranges),
                update_case("first_step", {19}, Rprop{}, {{0.0, 0.0}, {0.0, 0.0}}, 1),
                update_case("limits_up_over_many_tiles", {70001},
                            Rprop{.eta_minus = 0.1,
                                  .eta_plus = 3.0,
                                  .step_size_min = 0.2,
                                  .step_size_max = 0.7,
                                  .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, Rprop{}))},
  };
}

}  // namespace thimble::test::rprop_update_test
