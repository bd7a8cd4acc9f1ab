#include "harness/update_cases.h"

namespace thimble::test::adafactor_update_test {

THIMBLE_OP_CASES(adafactor_update) {
  return {
      .cases = {update_case("matrix", {3, 7}, Adafactor{}), update_case("scalar", {}, Adafactor{}),
                update_case("vector", {19}, Adafactor{}), update_case("empty", {0}, Adafactor{}),
                update_case("no_columns", {3, 0}, Adafactor{}),
                update_case("one_column", {5, 1}, Adafactor{}),
                update_case("kernels", {4, 3, 3, 5}, Adafactor{.weight_decay = 0.1}, {}, 9),
                update_case("vector_over_many_tiles", {70001}, Adafactor{.maximize = true}),
                update_case("wide_matrices", {2, 5, 1301}, Adafactor{}),
                update_case("matrix_over_many_tasks", {700, 101},
                            Adafactor{.beta2_decay = -0.5,
                                      .epsilon1 = 1e-2,
                                      .epsilon2 = 0.9,
                                      .d = 1.5,
                                      .weight_decay = 0.1,
                                      .maximize = true})},
      .rejects = {without_last_state(update_case("", {2, 2}, Adafactor{}), "state tensors, got")},
  };
}

}  // namespace thimble::test::adafactor_update_test
