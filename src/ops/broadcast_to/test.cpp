#include "ops/families/move/move_cases.h"

namespace thimble::test::broadcast_to_test {
namespace {

ir::Attrs to(const Shape& shape) {
  return attrs_of("broadcast_to", R"({"shape": )" + to_string(shape) + "}");
}

}  // namespace

THIMBLE_OP_CASES(broadcast_to) {
  OpCases own{
      .cases =
          {
              {"scalar", {{.shape = {}}}, to({3, 5}), {{3, 5}}},
              {"rows", {{.shape = {5}}}, to({3, 5}), {{3, 5}}},
              {"columns", {{.shape = {3, 1}}}, to({3, 5}), {{3, 5}}},
              {"both", {{.shape = {3, 1, 4, 1}}}, to({2, 3, 5, 4, 7}), {{2, 3, 5, 4, 7}}},
              {"middle", {{.shape = {3, 1, 4}}}, to({3, 6, 4}), {{3, 6, 4}}},
              {"ones", {{.shape = {1, 1}}}, to({1, 1, 1}), {{1, 1, 1}}},
              {"same", {{.shape = {2, 3}}}, to({2, 3}), {{2, 3}}},
              {"to_nothing", {{.shape = {1, 3}}}, to({0, 3}), {{0, 3}}},
              {"empty", {{.shape = {0}}}, to({4, 0}), {{4, 0}}},
              {"eight_axes",
               {{.shape = {2, 1, 2, 1, 2, 1, 2}}},
               to({3, 2, 3, 2, 3, 2, 3, 2}),
               {{3, 2, 3, 2, 3, 2, 3, 2}}},
          },
      .rejects =
          {
              {"other_size", {{.shape = {3}}}, to({3, 4}), "cannot be repeated"},
              {"fewer_axes", {{.shape = {1, 3}}}, to({3}), "cannot be repeated"},
              {"nine_axes", {{.shape = {1}}}, to({1, 1, 1, 1, 1, 1, 1, 1, 1}), "at most 8"},
          },
  };
  return with_types(std::move(own), {3, 1}, to({2, 3, 5}), {2, 3, 5});
}

}  // namespace thimble::test::broadcast_to_test
