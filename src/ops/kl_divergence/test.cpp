#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/kl_divergence/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs by(Reduction reduction, bool log_target = false) {
  return ir::Attrs::of(KlDivergenceOptions{log_target, reduction});
}

}  // namespace

THIMBLE_OP_CASES(kl_divergence) {
  return {
      .cases =
          {
              {.name = "mean",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "terms",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 7}}},
              {.name = "many_terms",
               .inputs = {{.shape = {3, 9001}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 9001}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 9001}}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 4, 5}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}, .low = -4.0, .high = 0.0},
                          {.shape = {1, 37}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "scalar",
               .inputs = {{.shape = {}, .low = -4.0, .high = 0.0},
                          {.shape = {}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}, .low = -4.0, .high = 0.0},
                          {.shape = {0, 4}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 9001}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}, .low = -4.0, .high = 0.0},
                          {.shape = {8192}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "log_target",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = -4.0, .high = 0.0}},
               .attrs = by(Reduction::batch_mean, true),
               .expect = {{}}},
              {.name = "zero_targets",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = 0.0, .high = 0.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}},
               .no_grad = {1}},
          },
      .rejects =
          {
              {"shapes", {{.shape = {3}}, {.shape = {4}}}, by(Reduction::mean), "of one shape"},
              {"integers",
               {{.shape = {3}}, {.shape = {3}, .dtype = DType::i32}},
               by(Reduction::mean),
               "of type f32"},
              {"no_batch",
               {{.shape = {}}, {.shape = {}}},
               by(Reduction::batch_mean),
               "needs a batch"},
          },
  };
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

}  // namespace thimble::test
