#include "harness/op_cases.h"
#include "ops/mse/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(mse) {
  return {
      .cases =
          {
              {.name = "mean",
               .inputs = {{.shape = {3, 7}}, {.shape = {3, 7}}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "terms",
               .inputs = {{.shape = {3, 7}}, {.shape = {3, 7}}},
               .attrs = by(Reduction::none),
               .expect = {{3, 7}}},
              {.name = "many_terms",
               .inputs = {{.shape = {3, 9001}}, {.shape = {3, 9001}}},
               .attrs = by(Reduction::none),
               .expect = {{3, 9001}}},
              {.name = "sum",
               .inputs = {{.shape = {3, 7}}, {.shape = {3, 7}}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "batch_mean",
               .inputs = {{.shape = {3, 4, 5}}, {.shape = {3, 4, 5}}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "batch_of_1",
               .inputs = {{.shape = {1, 37}}, {.shape = {1, 37}}},
               .attrs = by(Reduction::batch_mean),
               .expect = {{}}},
              {.name = "scalar",
               .inputs = {{.shape = {}}, {.shape = {}}},
               .attrs = by(Reduction::mean),
               .expect = {{}}},
              {.name = "sum_of_nothing",
               .inputs = {{.shape = {0, 4}}, {.shape = {0, 4}}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "many",
               .inputs = {{.shape = {3, 9001}}, {.shape = {3, 9001}}},
               .attrs = by(Reduction::sum),
               .expect = {{}}},
              {.name = "one_tile",
               .inputs = {{.shape = {8192}}, {.shape = {8192}}},
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

}  // namespace thimble::test
