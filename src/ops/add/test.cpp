#include "harness/op_cases.h"

namespace thimble::test {

THIMBLE_OP_CASES(add) {
  // Every way in which operands broadcast.
  return {
      .cases = {{"same", {{.shape = {3, 7}}, {.shape = {3, 7}}}, {}, {{3, 7}}},
                {"scalar", {{.shape = {3, 7}}, {.shape = {}}}, {}, {{3, 7}}},
                {"scalar_first", {{.shape = {}}, {.shape = {5}}}, {}, {{5}}},
                {"row", {{.shape = {2, 3, 7}}, {.shape = {7}}}, {}, {{2, 3, 7}}},
                {"column", {{.shape = {4, 1}}, {.shape = {4, 37}}}, {}, {{4, 37}}},
                {"outer", {{.shape = {5, 1}}, {.shape = {1, 6}}}, {}, {{5, 6}}},
                {"middle", {{.shape = {2, 1, 4}}, {.shape = {3, 1}}}, {}, {{2, 3, 4}}},
                {"empty", {{.shape = {0, 4}}, {.shape = {4}}}, {}, {{0, 4}}},
                {"long_vector", {{.shape = {70001}}, {.shape = {70001}}}, {}, {{70001}}}},
      .rejects = {
          {"other_size", {{.shape = {2, 3}}, {.shape = {2}}}, {}, "broadcast"},
          {"integers", {{.shape = {2}, .dtype = DType::i32}, {.shape = {2}}}, {}, "of type f32"},
          {"nine_axes", {{.shape = {1, 1, 1, 1, 1, 1, 1, 1, 1}}, {.shape = {}}}, {}, "at most 8"}}};
}

}  // namespace thimble::test
