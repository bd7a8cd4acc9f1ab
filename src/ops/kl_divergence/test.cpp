#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/loss/loss_cases.h"

namespace thimble::test::kl_divergence_test {
namespace {

ir::Attrs by(Reduction reduction, bool log_target = false) {
  return ir::Attrs::of(KlDivergenceOptions{log_target, reduction});
}

}  // namespace

THIMBLE_OP_CASES(kl_divergence) {
  const auto of = [](bool log_target) {
    return [=](Reduction reduction) { return by(reduction, log_target); };
  };
  const TensorSpec logs{.low = -4.0, .high = 0.0};
  OpCases table = loss_cases(of(false), {logs, {.low = 0.01, .high = 1.0}});
  table.cases.push_back(
      loss_case("log_target", {3, 7}, Reduction::batch_mean, of(true), {logs, logs}));
  OpCase zeros = loss_case("zero_targets", {3, 7}, Reduction::sum, of(false),
                           {logs, {.low = 0.0, .high = 0.0}});
  zeros.no_grad = {1};
  table.cases.push_back(zeros);
  return table;
}

TEST(kl_divergence, takes_a_share_of_0_for_nothing_and_passes_nan_on) {
  const Tensor x = tensor({2}, {-1.0F, -2.0F});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto loss = [&](bool log_target, float a, float b) {
      return values_of<float>(run_op("kl_divergence", by(Reduction::sum, log_target),
                                     {x, tensor({2}, {a, b})}, kernel)[0])[0];
    };
    EXPECT_FLOAT_EQ(loss(false, 0.0F, 1.0F), 2.0F);
    EXPECT_FLOAT_EQ(loss(true, 0.0F, -1e30F), 1.0F);
    EXPECT_TRUE(std::isnan(loss(false, NAN, 1.0F)));
    EXPECT_TRUE(std::isnan(loss(true, NAN, 1.0F)));
    EXPECT_TRUE(std::isnan(loss(false, -1.0F, 1.0F)));
  }
}

}  // namespace thimble::test::kl_divergence_test
