#include "ops/families/loss/loss_cases.h"

namespace thimble::test::gaussian_kl_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(GaussianKlOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(gaussian_kl) {
  OpCases table = loss_cases(by, {{.low = -2.0, .high = 2.0}, {.low = -3.0, .high = 3.0}});
  OpCase far_out =
      loss_case("far_out", {64}, Reduction::mean, by, {{}, {.low = -200.0, .high = 80.0}});
  far_out.no_grad = {0, 1};
  table.cases.push_back(far_out);
  return table;
}

}  // namespace thimble::test::gaussian_kl_test
