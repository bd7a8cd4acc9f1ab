#include "ops/families/move/move_cases.h"

namespace thimble::test::slice_test {
namespace {

ir::Attrs cut(SliceOptions options) { return ir::Attrs::of(std::move(options)); }

}  // namespace

THIMBLE_OP_CASES(slice) {
  const TensorSpec x{.shape = {3, 5, 4}};
  OpCases own{
      .cases =
          {
              {"leading", {x}, cut({.starts = {1}, .stops = {3}}), {{2, 5, 4}}},
              {"last_axis", {x}, cut({.axes = {-1}, .starts = {1}, .stops = {3}}), {{3, 5, 2}}},
              {"steps",
               {x},
               cut({.axes = {1, 2}, .starts = {0, 1}, .stops = {kEnd, kEnd}, .steps = {2, 3}}),
               {{3, 3, 1}}},
              {"from_the_end", {x}, cut({.axes = {1}, .starts = {-3}, .stops = {-1}}), {{3, 2, 4}}},
              {"beyond_the_end",
               {x},
               cut({.axes = {1}, .starts = {-99}, .stops = {99}}),
               {{3, 5, 4}}},
              {"long_step",
               {x},
               cut({.axes = {1}, .starts = {2}, .stops = {5}, .steps = {kEnd}}),
               {{3, 1, 4}}},
              {"nothing", {x}, cut({.axes = {1}, .starts = {3}, .stops = {2}}), {{3, 0, 4}}},
              {"everything", {x}, cut({}), {{3, 5, 4}}},
              {"of_nothing", {{.shape = {0, 4}}}, cut({.starts = {0}, .stops = {2}}), {{0, 4}}},
              {"batch_of_1",
               {{.shape = {1, 6}}},
               cut({.axes = {1}, .starts = {1}, .stops = {6}, .steps = {2}}),
               {{1, 3}}},
              {"every_second_channel",
               {{.shape = {3, 50, 34}}},
               cut({.axes = {2}, .starts = {1}, .stops = {kEnd}, .steps = {2}}),
               {{3, 50, 17}}},
              {"one_channel",
               {{.shape = {3, 7, 5, 6}}},
               cut({.axes = {3}, .starts = {2}, .stops = {3}}),
               {{3, 7, 5, 1}}},
              {"large",
               {{.shape = {9, 70, 71}}},
               cut({.axes = {0, 1}, .starts = {1, 3}, .stops = {kEnd, -2}, .steps = {2, 1}}),
               {{4, 65, 71}}},
          },
      .rejects =
          {
              {"lengths", {x}, cut({.starts = {1, 2}, .stops = {3}}), "as many stops"},
              {"step_0",
               {x},
               cut({.starts = {1}, .stops = {3}, .steps = {0}}),
               "steps must be at least 1"},
              {"no_such_axis",
               {x},
               cut({.axes = {3}, .starts = {1}, .stops = {3}}),
               "there is no axis 3"},
              {"twice",
               {x},
               cut({.axes = {1, -2}, .starts = {1, 1}, .stops = {3, 3}}),
               "named twice"},
              {"too_many",
               {{.shape = {3}}},
               cut({.starts = {1, 1}, .stops = {3, 3}}),
               "more starts than dimensions"},
          },
  };
  return with_types(std::move(own), {4, 6},
                    cut({.axes = {1}, .starts = {1}, .stops = {6}, .steps = {2}}), {4, 3});
}

}  // namespace thimble::test::slice_test
