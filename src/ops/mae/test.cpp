#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/loss/loss_cases.h"

namespace thimble::test::mae_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(mae) {
  return loss_cases(by, {{.low = -3.0, .high = 3.0, .gap = 1.2}, {.low = -1.1, .high = 1.1}});
}

TEST(mae, passes_nan_on) {
  const Tensor x = tensor({3}, {NAN, 1.0F, 3.0F});
  const Tensor t = tensor({3}, {1.0F, 1.0F, 1.0F});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_TRUE(
        std::isnan(values_of<float>(run_op("mae", by(Reduction::sum), {x, t}, kernel)[0])[0]));
    const auto dx = values_of<float>(
        run_op("mae_grad", by(Reduction::sum), {tensor({}, {1.0F}), x, t}, kernel)[0]);
    EXPECT_TRUE(std::isnan(dx[0]));
    EXPECT_EQ(dx[1], 0.0F);
    EXPECT_EQ(dx[2], 1.0F);
  }
}

}  // namespace thimble::test::mae_test
