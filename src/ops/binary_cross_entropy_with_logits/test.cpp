#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/loss/loss_cases.h"

namespace thimble::test::binary_cross_entropy_with_logits_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(binary_cross_entropy_with_logits) {
  OpCases table = loss_cases(by, {{.low = -5.0, .high = 5.0}, {.low = 0.0}});
  table.cases.push_back(loss_case("far_out", {64}, Reduction::mean, by,
                                  {{.low = -300.0, .high = 300.0}, {.low = 0.0}}));
  return table;
}

TEST(binary_cross_entropy_with_logits, stays_finite_for_large_logits_and_passes_nan_on) {
  const Tensor t = tensor({2}, {0.0F, 1.0F});
  const auto attrs = by(Reduction::sum);
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto loss = [&](float a, float b) {
      return values_of<float>(run_op("binary_cross_entropy_with_logits", attrs,
                                     {tensor({2}, {a, b}), t}, kernel)[0])[0];
    };
    EXPECT_FLOAT_EQ(loss(-1e30F, 1e30F), 0.0F);
    EXPECT_FLOAT_EQ(loss(1000.0F, 1000.0F), 1000.0F);
    EXPECT_TRUE(std::isnan(loss(NAN, 1.0F)));
    const Tensor far = tensor({2}, {1000.0F, -1000.0F});
    const auto dx = values_of<float>(run_op("binary_cross_entropy_with_logits_grad", attrs,
                                            {tensor({}, {1.0F}), far, t}, kernel)[0]);
    EXPECT_EQ(dx, (std::vector<float>{1.0F, -1.0F}));
  }
}

}  // namespace thimble::test::binary_cross_entropy_with_logits_test
