#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/mae/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(mae) {
  return {
      .cases =
          {
              {.name = "mean",
               .inputs = {{.shape = {3, 7}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 7}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "terms",
               .inputs = {{.shape = {3, 7}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 7}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::none),
               .expect = {{3, 7}}},
              {.name = "many_terms",
               .inputs = {{.shape = {3, 9001}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 9001}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::none),
               .expect = {{3, 9001}}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 7}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 4, 5}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {1, 37}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "scalar",
               .inputs = {{.shape = {}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {0, 4}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {3, 9001}, .low = -1.1, .high = 1.1}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}, .low = -3.0, .high = 3.0, .gap = 1.2},
                          {.shape = {8192}, .low = -1.1, .high = 1.1}},
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

}  // namespace thimble::test
