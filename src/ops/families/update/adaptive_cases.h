// Test cases of pooling to a given size.
#pragma once

#include "harness/op_cases.h"

namespace thimble::test {

// to: returns the attributes for a size; outputs: the number of outputs, all of one shape.
template <class To>
OpCases adaptive_cases(const To& to, size_t outputs) {
  const auto of = [&](const char* name, const Shape& x, Pair size, const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .distinct = true}},
                  .attrs = to(size),
                  .expect = std::vector<Shape>(outputs, y)};
  };
  return {
      .cases = {of("uneven", {3, 5, 7, 6}, {3, 2}, {3, 3, 2, 6}),
                of("even", {2, 6, 4, 3}, {3, 2}, {2, 3, 2, 3}),
                of("larger", {2, 3, 2, 5}, {4, 7}, {2, 4, 7, 5}),
                of("as_x", {2, 3, 5, 2}, {0, 2}, {2, 3, 2, 2}),
                of("whole_image", {2, 5, 3, 4}, 1, {2, 1, 1, 4}),
                of("one_pixel", {1, 1, 1, 2}, {3, 3}, {1, 3, 3, 2}),
                of("empty_batch", {0, 5, 3, 4}, 2, {0, 2, 2, 4})},
      .rejects = {{"negative", {{.shape = {1, 4, 4, 2}}}, to(-1), "a size of at least 1"},
                  {"empty_images", {{.shape = {1, 0, 4, 2}}}, to(2), "at least 1 by 1"},
                  {"sequences", {{.shape = {1, 4, 2}}}, to(2), "expected x to be images"}},
  };
}

}  // namespace thimble::test
