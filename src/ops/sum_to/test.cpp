#include "harness/op_cases.h"
#include "ops/sum_to/attrs.h"

namespace thimble::test::sum_to_test {
namespace {

ir::Attrs to(const Shape& shape) { return ir::Attrs::of(SumToAttrs{shape}); }

}  // namespace

THIMBLE_OP_CASES(sum_to) {
  return {.cases = {{"scalar", {{.shape = {3, 7}}}, to({}), {{}}},
                    {"bias", {{.shape = {5, 3, 7}}}, to({7}), {{7}}},
                    {"column", {{.shape = {4, 37}}}, to({4, 1}), {{4, 1}}},
                    {"middle", {{.shape = {2, 3, 4}}}, to({2, 1, 4}), {{2, 1, 4}}},
                    {"outside", {{.shape = {2, 3, 4}}}, to({3, 1}), {{3, 1}}},
                    {"nothing", {{.shape = {2, 3}}}, to({2, 3}), {{2, 3}}},
                    {"empty", {{.shape = {0, 4}}}, to({4}), {{4}}},
                    {"many_rows", {{.shape = {1031, 17}}}, to({17}), {{17}}},
                    {"long_row", {{.shape = {3, 20011}}}, to({3, 1}), {{3, 1}}},
                    {"wide", {{.shape = {9, 3001}}}, to({3001}), {{3001}}}},
          .rejects = {{"other_size", {{.shape = {2, 3}}}, to({2}), "broadcasts to"},
                      {"more_axes", {{.shape = {3}}}, to({2, 3}), "broadcasts to"},
                      {"doubles", {{.shape = {2}, .dtype = DType::f64}}, to({}), "cast first"}}};
}

}  // namespace thimble::test::sum_to_test
