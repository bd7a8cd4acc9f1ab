#include "harness/update_cases.h"

namespace thimble::test::sparse_adam_update_test {
namespace {

const SparseAdam kSettings{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .maximize = true};

}  // namespace

THIMBLE_OP_CASES(sparse_adam_update) {
  return {
      .cases = {update_case("plain", {3, 7}, SparseAdam{}), update_case("scalar", {}, SparseAdam{}),
                update_case("empty", {0}, SparseAdam{}),
                update_case("first_step", {19}, kSettings, {{0.0, 0.0}, {0.0, 0.0}}, 1),
                update_case("over_many_tiles", {70001}, kSettings)},
      .rejects = {without_last_state(update_case("", {2}, SparseAdam{}))},
  };
}

THIMBLE_OP_CASES(sparse_adam_rows_update) {
  return {.cases = rows_cases(kSettings), .rejects = rows_rejects(kSettings)};
}

}  // namespace thimble::test::sparse_adam_update_test
