#include "ops/families/move/move_cases.h"

namespace thimble::test::tril_test {
namespace {

OpCases triangles() {
  const auto of = [](const char* name, const Shape& x, int64_t diagonal) {
    return move_case(name, x, ir::Attrs::of(TriangleOptions{diagonal}), x);
  };
  OpCases own{
      .cases = {of("square", {5, 5}, 0), of("wide", {3, 4, 9}, 2), of("tall", {3, 9, 4}, -3),
                of("everything_or_nothing", {4, 5}, 100), of("the_reverse", {4, 5}, -100),
                of("many_rows", {2, 300, 200}, 1), of("one_cell", {1, 1}, 0),
                of("no_matrices", {0, 3, 3}, 0), of("empty_matrices", {3, 0, 4}, 0)},
      .rejects = {{"vector",
                   {{.shape = {4}}},
                   ir::Attrs::of(TriangleOptions{}),
                   "at least two dimensions"},
                  {"zero_point",
                   {{.shape = {3, 3},
                     .dtype = DType::i8,
                     .quantization = {.scales = {0.5F}, .zero_points = {10}}}},
                   ir::Attrs::of(TriangleOptions{}),
                   "another zero point"}},
  };
  return with_types(std::move(own), {2, 5, 3}, ir::Attrs::of(TriangleOptions{1}), {2, 5, 3});
}

}  // namespace

THIMBLE_OP_CASES(tril) { return triangles(); }
THIMBLE_OP_CASES(triu) { return triangles(); }

}  // namespace thimble::test::tril_test
