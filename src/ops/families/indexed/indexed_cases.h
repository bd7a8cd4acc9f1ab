// Test cases of ops that write to the elements that an index names.
#pragma once

#include "harness/op_cases.h"

namespace thimble::test {

// An index of this shape for a tensor x. distinct: no element of x is named twice.
inline TensorSpec index_for(const Shape& x, const Shape& shape, int64_t axis, bool distinct) {
  const double last = static_cast<double>(x[static_cast<int>(axis)] - 1);
  return {.shape = shape, .dtype = DType::i32, .low = 0, .high = last, .distinct = distinct};
}

// has_source: else the third input is left out.
inline OpCase scatter_case(const char* name, const Shape& x, const Shape& index, int64_t axis,
                           const ir::Attrs& attrs, bool distinct, bool has_source = true) {
  return {.name = name,
          .inputs = {{.shape = x},
                     index_for(x, index, axis, distinct),
                     {.shape = index, .absent = !has_source}},
          .attrs = attrs,
          .expect = {x}};
}

// attrs(axis): the attributes. distinct: as each element keeps the last number written, only that
// one has a gradient, so that no element may be named twice.
template <class Attrs>
OpCases scatter_cases(const Attrs& attrs, bool distinct) {
  const auto of = [&](const char* name, const Shape& x, const Shape& index, int64_t axis) {
    return scatter_case(name, x, index, axis, attrs(axis), distinct);
  };
  const TensorSpec x{.shape = {3, 4}};
  const TensorSpec index{.shape = {3, 2}, .dtype = DType::i32, .low = 0, .high = 3};
  return {
      .cases = {of("last", {2, 2, 40}, {2, 2, 9}, 2), of("middle", {3, 50, 4}, {3, 4, 4}, 1),
                of("first", {60, 2, 3}, {7, 2, 3}, 0), of("a_part", {3, 40, 4}, {2, 3, 3}, 1),
                of("one_axis", {25}, {20}, 0), of("many", {30, 1000}, {30, 30}, 1),
                of("one_index", {50, 40}, {1, 40}, 0), of("fewer_columns", {700, 90}, {5, 83}, 0),
                of("many_channels", {3, 600, 60}, {3, 3, 60}, 1),
                of("fewer_lines", {30, 1000}, {29, 30}, 1), of("nothing", {3, 5}, {3, 0}, 1)},
      .rejects = {{"source_shape", {x, index, {.shape = {3, 3}}}, attrs(1), "the shape of index"},
                  {"too_large",
                   {x, {.shape = {4, 2}, .dtype = DType::i32}, {.shape = {4, 2}}},
                   attrs(1),
                   "no larger but along"},
                  {"index_of_f32", {x, x, x}, attrs(1), "index must be i32"}},
  };
}

}  // namespace thimble::test
