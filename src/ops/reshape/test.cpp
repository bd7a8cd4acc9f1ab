#include "harness/op_cases.h"
#include "ops/reshape/attrs.h"

namespace thimble::test::reshape_test {
namespace {

ir::Attrs to(const Shape& shape) { return ir::Attrs::of(ReshapeAttrs{shape}); }

}  // namespace

THIMBLE_OP_CASES(reshape) {
  return {
      .cases =
          {
              {"merges", {{.shape = {3, 4, 2}}}, to({3, 8}), {{3, 8}}},
              {"finds_first", {{.shape = {3, 4}}}, to({-1, 2, 2}), {{3, 2, 2}}},
              {"finds_last", {{.shape = {1, 6}}}, to({2, -1}), {{2, 3}}},
              {"to_scalar", {{.shape = {1, 1}}}, to({}), {{}}},
              {"from_scalar", {{.shape = {}}}, to({-1}), {{1}}},
              {"empty", {{.shape = {0, 4}}}, to({2, 0, 7}), {{2, 0, 7}}},
              {"empty_finds", {{.shape = {0, 4}}}, to({-1, 2}), {{0, 2}}},
              {"i32", {{.shape = {2, 3}, .dtype = DType::i32}}, to({3, 2}), {{3, 2}}},
              {"bits", {{.shape = {3, 7}, .dtype = DType::boolean}}, to({21}), {{21}}},
          },
      .rejects =
          {
              {"other_size", {{.shape = {3, 4}}}, to({5, 2}), "another number of elements"},
              {"part_rows", {{.shape = {3, 4}}}, to({5, -1}), "do not fill rows of 5"},
              {"two_unknown", {{.shape = {3, 4}}}, to({-1, -1}), "only one dimension may be -1"},
              {"unknown_beside_0", {{.shape = {0, 4}}}, to({-1, 0}), "-1 cannot be found"},
              {"negative", {{.shape = {3, 4}}}, to({-3, -4}), "at least 0"},
              {"overflow", {{.shape = {3, 4}}}, to({1 << 30, 1 << 30, 8}), "too many elements"},
          },
  };
}

THIMBLE_OP_CASES(flatten) {
  return {
      .cases = {{"images", {{.shape = {3, 2, 4, 5}}}, {}, {{3, 40}}},
                {"one_axis", {{.shape = {3}}}, {}, {{3, 1}}},
                {"empty_batch", {{.shape = {0, 2, 2}}}, {}, {{0, 4}}},
                {"empty_rows", {{.shape = {2, 0, 3}}}, {}, {{2, 0}}}},
      .rejects = {{"scalar", {{.shape = {}}}, {}, "at least one dimension"}},
  };
}

}  // namespace thimble::test::reshape_test
