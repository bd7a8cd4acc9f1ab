#include "harness/update_cases.h"

namespace thimble::test::lion_update_test {

THIMBLE_OP_CASES(lion_update) {
  const StateRanges ranges = {{-1.0, 1.0}};
  return {
      .cases = {update_case("plain", {3, 7}, Lion{}, ranges),
                update_case("scalar", {}, Lion{}, ranges),
                update_case("empty", {0}, Lion{}, ranges),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            Lion{.beta1 = 0.5, .beta2 = 0.8, .weight_decay = 0.1, .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, Lion{}))},
  };
}

}  // namespace thimble::test::lion_update_test
