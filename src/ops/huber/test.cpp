#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_run.h"
#include "ops/families/loss/loss_cases.h"

namespace thimble::test::huber_test {
namespace {

ir::Attrs by(Reduction reduction, double delta = 1.0) {
  return ir::Attrs::of(HuberOptions{delta, reduction});
}

}  // namespace

THIMBLE_OP_CASES(huber) {
  const auto of = [](double delta) {
    return [=](Reduction reduction) { return by(reduction, delta); };
  };
  OpCases table = loss_cases(of(1.0), {{.low = -3.0, .high = 3.0}, {.low = -1.1, .high = 1.1}});
  table.cases.push_back(loss_case("narrow", {3, 7}, Reduction::sum, of(0.1), {}));
  table.cases.push_back(loss_case("wide", {3, 7}, Reduction::sum, of(5.0), {}));
  table.rejects.push_back({"delta_0",
                           {{.shape = {3}}, {.shape = {3}}},
                           by(Reduction::mean, 0.0),
                           "delta must be positive"});
  return table;
}

TEST(huber, passes_nan_on) {
  const Tensor x = tensor({3}, {NAN, 1.0F, 3.0F});
  const Tensor t = tensor({3}, {1.0F, 1.0F, 1.0F});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_TRUE(
        std::isnan(values_of<float>(run_op("huber", by(Reduction::sum), {x, t}, kernel)[0])[0]));
    const auto dx = values_of<float>(
        run_op("huber_grad", by(Reduction::sum), {tensor({}, {1.0F}), x, t}, kernel)[0]);
    EXPECT_TRUE(std::isnan(dx[0]));
    EXPECT_EQ(dx[1], 0.0F);
    EXPECT_EQ(dx[2], 1.0F);
  }
}

}  // namespace thimble::test::huber_test
