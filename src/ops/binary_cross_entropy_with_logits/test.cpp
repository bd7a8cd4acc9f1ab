#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/binary_cross_entropy_with_logits/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(binary_cross_entropy_with_logits) {
  return {
      .cases =
          {
              {.name = "mean",
               .inputs = {{.shape = {3, 7}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 7}, .low = 0.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "terms",
               .inputs = {{.shape = {3, 7}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 7}, .low = 0.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 7}}},
              {.name = "many_terms",
               .inputs = {{.shape = {3, 9001}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 9001}, .low = 0.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 9001}}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 7}, .low = 0.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 4, 5}, .low = 0.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}, .low = -5.0, .high = 5.0},
                          {.shape = {1, 37}, .low = 0.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "scalar",
               .inputs = {{.shape = {}, .low = -5.0, .high = 5.0}, {.shape = {}, .low = 0.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}, .low = -5.0, .high = 5.0},
                          {.shape = {0, 4}, .low = 0.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}, .low = -5.0, .high = 5.0},
                          {.shape = {3, 9001}, .low = 0.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}, .low = -5.0, .high = 5.0},
                          {.shape = {8192}, .low = 0.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "far_out",
               .inputs = {{.shape = {64}, .low = -300.0, .high = 300.0},
                          {.shape = {64}, .low = 0.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
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

}  // namespace thimble::test
