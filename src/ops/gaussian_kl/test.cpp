#include "harness/op_cases.h"
#include "ops/gaussian_kl/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(GaussianKlOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(gaussian_kl) {
  return {
      .cases =
          {
              {.name = "mean",
               .inputs = {{.shape = {3, 7}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 7}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "terms",
               .inputs = {{.shape = {3, 7}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 7}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 7}}},
              {.name = "many_terms",
               .inputs = {{.shape = {3, 9001}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 9001}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::none),
               .expect = {{3, 9001}}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 7}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 4, 5}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}, .low = -2.0, .high = 2.0},
                          {.shape = {1, 37}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "scalar",
               .inputs = {{.shape = {}, .low = -2.0, .high = 2.0},
                          {.shape = {}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}, .low = -2.0, .high = 2.0},
                          {.shape = {0, 4}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}, .low = -2.0, .high = 2.0},
                          {.shape = {3, 9001}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}, .low = -2.0, .high = 2.0},
                          {.shape = {8192}, .low = -3.0, .high = 3.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "far_out",
               .inputs = {{.shape = {64}}, {.shape = {64}, .low = -200.0, .high = 80.0}},
               .attrs = by(Reduction::mean),
               .expect = {{}},
               .no_grad = {0, 1}},
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
