// Test cases of the reductions of reduction.h.
#pragma once

#include "harness/op_cases.h"

namespace thimble::test {

// gap: the least distance of inputs from 0.
template <class Options>
OpCase reduction_case(const char* name, const Shape& x, const Options& options, const Shape& y,
                      double gap) {
  return {.name = name,
          .inputs = {{.shape = x, .low = -1.5, .high = 1.5, .gap = gap}},
          .attrs = ir::Attrs::of(options),
          .expect = {y}};
}

template <class Options>
OpCases reduction_cases(double gap) {
  const auto of = [&](const char* name, const Shape& x, const Options& options, const Shape& y) {
    return reduction_case(name, x, options, y, gap);
  };
  return {
      .cases = {of("all", {3, 4, 5}, {}, {}), of("last", {3, 7}, {.axes = {-1}}, {3}),
                of("first_kept", {7, 5}, {.axes = {0}, .keepdims = true}, {1, 5}),
                of("images", {3, 4, 3, 5}, {.axes = {1, 2}}, {3, 5}),
                of("interleaved", {3, 2, 5, 2}, {.axes = {0, 2}}, {2, 2}),
                of("many_rows", {701, 6}, {.axes = {1}}, {701}),
                of("one_axis", {6}, {.axes = {0}}, {}), of("no_rows", {0, 3}, {.axes = {1}}, {0})},
      .rejects = {{"no_such_axis",
                   {{.shape = {3, 4}}},
                   ir::Attrs::of(Options{.axes = {2}}),
                   "there is no axis 2"},
                  {"doubles",
                   {{.shape = {3}, .dtype = DType::f64}},
                   ir::Attrs::of(Options{}),
                   "cast first"}},
  };
}

}  // namespace thimble::test
