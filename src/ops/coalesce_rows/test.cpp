#include "harness/op_cases.h"
#include "ops/coalesce_rows/attrs.h"

namespace thimble::test::coalesce_rows_test {
namespace {

TensorSpec indices(const Shape& shape, double low, double high) {
  return {.shape = shape, .dtype = DType::i32, .low = low, .high = high};
}

ir::Attrs attrs(const CoalesceRowsAttrs& a) { return ir::Attrs::of(a); }

}  // namespace

THIMBLE_OP_CASES(coalesce_rows) {
  return {
      .cases = {{.name = "doubles",
                 .inputs = {{.shape = {3, 4, 5}}, indices({3, 4}, 0, 5)},
                 .attrs = attrs({.rows = 6}),
                 .expect = {{12, 5}, {12}}},
                {.name = "one_index",
                 .inputs = {{.shape = {5}}, indices({}, 1, 1)},
                 .attrs = attrs({.rows = 2}),
                 .expect = {{1, 5}, {1}}},
                {.name = "nothing",
                 .inputs = {{.shape = {0, 5}}, indices({0}, 0, 0)},
                 .attrs = attrs({.rows = 2}),
                 .expect = {{0, 5}, {0}}},
                {.name = "no_width",
                 .inputs = {{.shape = {4, 0}}, indices({4}, 0, 2)},
                 .attrs = attrs({.rows = 3})},
                {.name = "some_without_a_row",
                 .inputs = {{.shape = {40, 3}}, indices({40}, -3, 9)},
                 .attrs = attrs({.rows = 7, .padding_idx = 2})},
                {.name = "means",
                 .inputs = {{.shape = {40, 3}}, indices({40}, -1, 9)},
                 .attrs = attrs({.rows = 9, .mean = true})},
                {.name = "many_columns",
                 .inputs = {{.shape = {700, 131}}, indices({700}, 0, 999)},
                 .attrs = attrs({.rows = 1000})},
                {.name = "of_a_huge_table",
                 .inputs = {{.shape = {500, 8}}, indices({500}, 0, 2e9)},
                 .attrs = attrs({.rows = 2000000000})}},
      .rejects = {{.name = "another_number_of_indices",
                   .inputs = {{.shape = {3, 2}}, indices({4}, 0, 1)},
                   .attrs = attrs({.rows = 2}),
                   .error = "one more dimension"},
                  {.name = "rows_below_zero",
                   .inputs = {{.shape = {3, 2}}, indices({3}, 0, 1)},
                   .attrs = attrs({.rows = -2}),
                   .error = "at least 0"}},
  };
}

THIMBLE_OP_CASES(dense_rows) {
  const auto rows = [](const Shape& shape, double high) {
    return TensorSpec{
        .shape = shape, .dtype = DType::i32, .low = 0, .high = high, .distinct = true};
  };
  const auto of = [](int64_t count) { return ir::Attrs::of(DenseRowsAttrs{count}); };
  return {
      .cases = {{"some", {{.shape = {3, 4}}, rows({3}, 8)}, of(9), {{9, 4}}},
                {"none", {{.shape = {0, 4}}, rows({0}, 0)}, of(2), {{2, 4}}},
                {"all", {{.shape = {5, 2}}, rows({5}, 4)}, of(5), {{5, 2}}}},
      .rejects = {{"another_number_of_rows",
                   {{.shape = {3, 4}}, rows({2}, 8)},
                   of(9),
                   "the number of each row"}},
  };
}

}  // namespace thimble::test::coalesce_rows_test
