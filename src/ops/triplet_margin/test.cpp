#include "harness/op_cases.h"

namespace thimble::test::triplet_margin_test {

THIMBLE_OP_CASES(triplet_margin) {
  const auto of = [](const char* name, const Shape& x, const TripletMarginOptions& options,
                     const Shape& rows = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x}, {.shape = x}, {.shape = x}},
                  .attrs = ir::Attrs::of(options),
                  .expect = {options.reduction == Reduction::none ? rows : Shape{}}};
  };
  const TensorSpec row{.shape = {4, 3}};
  return {
      .cases = {of("mean", {7, 5}, {}), of("sum", {7, 5}, {.reduction = Reduction::sum}),
                of("batch_mean", {3, 4, 5}, {.reduction = Reduction::batch_mean}),
                of("rows", {3, 4, 5}, {.reduction = Reduction::none}, {3, 4}),
                of("one_alone", {5}, {.reduction = Reduction::none}),
                of("small_margin", {9, 5}, {.margin = 0.05}), of("swap", {9, 5}, {.swap = true}),
                of("magnitudes", {7, 5}, {.p = 1.0}), of("cubes", {7, 5}, {.p = 3.0}),
                of("one_row", {5}, {}), of("one_value", {4, 1}, {}), of("many", {3000, 7}, {}),
                of("no_rows", {0, 5}, {.reduction = Reduction::sum})},
      .rejects = {{"shapes",
                   {row, row, {.shape = {4, 2}}},
                   ir::Attrs::of(TripletMarginOptions{}),
                   "of one shape"},
                  {"small_p",
                   {row, row, row},
                   ir::Attrs::of(TripletMarginOptions{.p = 0.5}),
                   "p of at least 1"}},
  };
}

}  // namespace thimble::test::triplet_margin_test
