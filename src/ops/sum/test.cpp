#include "harness/op_cases.h"

namespace thimble::test::sum_test {
namespace {

ir::Attrs over(std::vector<int64_t> axes, bool keepdims = false) {
  return ir::Attrs::of(ReduceOptions{std::move(axes), keepdims});
}

}  // namespace

THIMBLE_OP_CASES(sum) {
  return {
      .cases =
          {
              {"all", {{.shape = {3, 4, 5}}}, over({}), {{}}},
              {"all_kept", {{.shape = {3, 4}}}, over({}, true), {{1, 1}}},
              {"last", {{.shape = {3, 37}}}, over({-1}), {{3}}},
              {"first", {{.shape = {37, 5}}}, over({0}), {{5}}},
              {"middle", {{.shape = {3, 5, 70}}}, over({1}), {{3, 70}}},
              {"middle_kept", {{.shape = {3, 5, 4}}}, over({-2}, true), {{3, 1, 4}}},
              {"leading", {{.shape = {3, 6, 7, 5}}}, over({0, 1, 2}), {{5}}},
              {"interleaved", {{.shape = {3, 4, 5, 6}}}, over({0, 2}), {{4, 6}}},
              {"interleaved_last", {{.shape = {3, 4, 5, 40}}}, over({1, 3}), {{3, 5}}},
              {"size_1", {{.shape = {1, 5, 1}}}, over({0, 2}), {{5}}},
              {"batch_1", {{.shape = {1, 9}}}, over({0}), {{9}}},
              {"scalar", {{.shape = {}}}, over({}), {{}}},
              {"empty_axis", {{.shape = {3, 0}}}, over({1}), {{3}}},
              {"empty_result", {{.shape = {3, 0}}}, over({0}), {{0}}},
              {"long_rows", {{.shape = {2, 40001}}}, over({1}), {{2}}},
              {"many_rows", {{.shape = {301, 111}}}, over({1}), {{301}}},
              {"long_columns", {{.shape = {20003, 3}}}, over({0}), {{3}}},
              {"medium_columns", {{.shape = {501, 100}}}, over({0}), {{100}}},
              {"wide_columns", {{.shape = {101, 391}}}, over({0}), {{391}}},
              {"images", {{.shape = {3, 40, 30, 17}}}, over({1, 2}), {{3, 17}}},
              {"images_of_1", {{.shape = {33, 30, 20, 1}}}, over({1, 2}), {{33, 1}}},
          },
      .rejects =
          {
              {"no_such_axis", {{.shape = {3, 4}}}, over({2}), "there is no axis 2"},
              {"far_below", {{.shape = {3, 4}}}, over({-3}), "there is no axis -3"},
              {"named_twice", {{.shape = {3, 4}}}, over({1, -1}), "axis -1 is named twice"},
              {"doubles", {{.shape = {3}, .dtype = DType::f64}}, over({}), "cast first"},
              {"nine_axes", {{.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}}}, over({}), "at most 8"},
          },
  };
}

}  // namespace thimble::test::sum_test
