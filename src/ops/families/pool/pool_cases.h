// Test cases of pooling with windows.
#pragma once

#include "harness/op_cases.h"

namespace thimble::test {

// of(name, shape of x, shape of y, Attrs): a case. refused(name, shape of x, part of the message,
// Attrs): inputs to refuse.
template <class Attrs, class Of, class Refused>
OpCases pool_cases(const Of& of, const Refused& refused) {
  const auto pooled = [&](const char* name, const Shape& x, const Shape& y,
                          const Attrs& attrs = {}) { return of(name, x, y, attrs); };
  return {
      .cases = {pooled("halves", {3, 8, 6, 6}, {3, 4, 3, 6}),
                pooled("odd_sizes", {3, 9, 7, 5}, {3, 4, 3, 5}),
                pooled("one_channel", {3, 6, 6, 1}, {3, 3, 3, 1}),
                pooled("many_channels", {1, 5, 4, 35}, {1, 2, 2, 35}),
                pooled("overlapping_padded", {3, 9, 8, 4}, {3, 5, 4, 4},
                       {.kernel = 3, .stride = 2, .padding = 1}),
                pooled("stride_larger_than_kernel", {1, 11, 10, 3}, {1, 4, 3, 3},
                       {.kernel = 2, .stride = {3, 4}}),
                pooled("padding_of_each_side", {1, 5, 6, 3}, {1, 6, 6, 3},
                       {.kernel = 3, .stride = 1, .padding = {2, 1, 0, 2}}),
                pooled("same", {1, 7, 6, 3}, {1, 4, 3, 3},
                       {.kernel = 3, .stride = 2, .padding = Padding::same()}),
                pooled("last_window_beyond_the_image", {2, 6, 5, 3}, {2, 3, 2, 3},
                       {.kernel = 2, .stride = {2, 3}, .ceil_mode = true}),
                pooled("last_window_beyond_the_padding", {2, 6, 6, 3}, {2, 4, 4, 3},
                       {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true}),
                pooled("one_pixel", {1, 1, 1, 2}, {1, 1, 1, 2}, {.kernel = 1}),
                pooled("many_rows", {2, 90, 40, 7}, {2, 45, 20, 7}),
                pooled("empty_batch", {0, 8, 6, 6}, {0, 4, 3, 6})},
      .rejects = {refused("x_that_is_no_image", {4, 4}, "expected x to be images", {}),
                  refused("a_window_larger_than_the_image", {1, 3, 3, 2}, "does not fit",
                          {.kernel = 4}),
                  refused("padding_as_wide_as_the_window", {1, 3, 3, 2}, "padding below the size",
                          {.kernel = 2, .padding = 2})},
  };
}

// Appends the cases of one op to the shared ones.
inline OpCases operator+(OpCases shared, const OpCases& own) {
  shared.cases.insert(shared.cases.end(), own.cases.begin(), own.cases.end());
  shared.rejects.insert(shared.rejects.end(), own.rejects.begin(), own.rejects.end());
  return shared;
}

}  // namespace thimble::test
