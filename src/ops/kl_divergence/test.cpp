#include "harness/op_cases.h"
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
               .expect = {{}},
               .no_grad = {1}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 4, 5}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}, .low = -4.0, .high = 0.0},
                          {.shape = {1, 37}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "scalar",
               .inputs = {{.shape = {}, .low = -4.0, .high = 0.0},
                          {.shape = {}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}, .low = -4.0, .high = 0.0},
                          {.shape = {0, 4}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 9001}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}, .low = -4.0, .high = 0.0},
                          {.shape = {8192}, .low = 0.01, .high = 1.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}},
               .no_grad = {1}},
              {.name = "log_target",
               .inputs = {{.shape = {3, 7}, .low = -4.0, .high = 0.0},
                          {.shape = {3, 7}, .low = -4.0, .high = 0.0}},
               .attrs = by(Reduction::batch_mean, true),
               .expect = {{}},
               .no_grad = {1}},
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

}  // namespace thimble::test
