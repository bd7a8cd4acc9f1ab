#include "exec/rates.h"

#include <gtest/gtest.h>
#include <thimble/ops.h>

#include <vector>

namespace thimble::rates_test {
namespace {

// Sums in f64, one after the other, on one thread: several times as long as the fast product.
TEST(rates, of_reference_kernels_are_their_own) {
  Graph g;
  const Value x = g.constant("x", {256, 256}, std::vector<float>(256 * 256));
  matmul(x, x);
  parallel::ThreadPool pool(2);
  const plan::NodeTimes fast = exec::measured_rates(pool, true);
  const plan::NodeTimes reference = exec::measured_rates(pool, false);
  EXPECT_GT(reference.of(g.ir()), 2.0 * fast.of(g.ir()));
  EXPECT_GT(fast.of(g.ir()), 0.0);
}

}  // namespace
}  // namespace thimble::rates_test
