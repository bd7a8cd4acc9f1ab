#include "harness/update_cases.h"

namespace thimble::test::sign_sgd_update_test {

THIMBLE_OP_CASES(sign_sgd_update) {
  const StateRanges ranges = {{-1.0, 1.0}};
  return {
      .cases = {update_case("plain", {3, 7}, SignSGD{}), update_case("scalar", {}, SignSGD{}),
                update_case("empty", {0}, SignSGD{}),
                update_case("momentum", {19}, SignSGD{.momentum = 0.9}, ranges),
                update_case("decoupled", {19},
                            SignSGD{.weight_decay = 0.1, .decoupled_weight_decay = true}),
                update_case("weight_decay_up_over_many_tiles", {70001},
                            SignSGD{.momentum = 0.5, .weight_decay = 0.1, .maximize = true},
                            ranges)},
      .rejects = {without_last_state(update_case("", {2}, SignSGD{.momentum = 0.9}),
                                     "state tensors, got")},
  };
}

}  // namespace thimble::test::sign_sgd_update_test
