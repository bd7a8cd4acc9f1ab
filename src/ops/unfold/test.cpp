#include "harness/op_cases.h"

namespace thimble::test::unfold_test {

THIMBLE_OP_CASES(unfold) {
  const auto of = [](const char* name, const Shape& x, const UnfoldOptions& options,
                     const Shape& y) {
    return OpCase{
        .name = name, .inputs = {{.shape = x}}, .attrs = ir::Attrs::of(options), .expect = {y}};
  };
  const auto rejects = [](const char* name, const Shape& x, const UnfoldOptions& options,
                          const char* error) {
    return RejectCase{name, {{.shape = x}}, ir::Attrs::of(options), error};
  };
  return {
      .cases = {of("patches", {2, 4, 6, 3}, {.kernel = 2, .stride = 2}, {2, 6, 12}),
                of("overlapping", {2, 5, 4, 2}, {.kernel = {3, 2}}, {2, 9, 12}),
                of("padded", {1, 5, 4, 3}, {.kernel = 3, .stride = {2, 1}, .padding = {1, 0, 2, 1}},
                   {1, 10, 27}),
                of("same", {1, 5, 4, 3}, {.kernel = 3, .stride = 2, .padding = Padding::same()},
                   {1, 6, 27}),
                of("dilated", {2, 7, 7, 2}, {.kernel = 3, .dilation = {2, 3}}, {2, 3, 18}),
                of("many_rows", {3, 60, 40, 5}, {.kernel = 5, .padding = 2}, {3, 2400, 125}),
                of("many_channels", {2, 6, 7, 20}, {.kernel = 3, .padding = 1, .dilation = {1, 2}},
                   {2, 30, 180}),
                // Rows of a window of one to four values.
                of("depth", {2, 6, 40, 1}, {.kernel = {3, 1}, .padding = {1, 1, 0, 0}},
                   {2, 240, 3}),
                of("one_channel", {2, 5, 19, 1}, {.kernel = 3, .padding = 1, .dilation = {2, 1}},
                   {2, 57, 9}),
                of("two_channels", {2, 5, 7, 2}, {.kernel = 2, .stride = {1, 3}, .padding = 1},
                   {2, 18, 8}),
                of("four_channels", {1, 4, 5, 4}, {.kernel = {2, 1}, .dilation = {1, 2}},
                   {1, 15, 8}),
                of("narrow", {2, 4, 1, 1}, {.kernel = {1, 3}, .padding = {0, 0, 1, 1}}, {2, 4, 3}),
                of("no_images", {0, 4, 4, 2}, {.kernel = 2}, {0, 9, 8})},
      .rejects = {rejects("sequences", {2, 4, 3}, {}, "to be images"),
                  rejects("no_window", {1, 4, 4, 2}, {.kernel = 0}, "at least 1 by 1"),
                  rejects("large_window", {1, 4, 4, 2}, {.kernel = 5}, "does not fit"),
                  rejects("many_cells", {1, 1, 1, 2},
                          {.kernel = 1 << 20, .stride = 1 << 20, .padding = 1 << 19},
                          "at most 2147483647 cells"),
                  rejects("long_rows", {1, 1, 1, 1 << 10},
                          {.kernel = 1 << 15, .stride = 1 << 20, .padding = 1 << 14},
                          "more than 2147483647 elements"),
                  rejects("wide_window", {1, 4, 4, 2},
                          {.kernel = {1 << 12, 1}, .padding = Padding::same(), .dilation = 1 << 20},
                          "is too large; dilate less")},
  };
}

THIMBLE_OP_CASES(fold) {
  const auto of = [](const char* name, const Shape& x, const FoldOptions& options, const Shape& y) {
    return OpCase{
        .name = name, .inputs = {{.shape = x}}, .attrs = ir::Attrs::of(options), .expect = {y}};
  };
  const auto rejects = [](const char* name, const Shape& x, const FoldOptions& options,
                          const char* error) {
    return RejectCase{name, {{.shape = x}}, ir::Attrs::of(options), error};
  };
  return {
      .cases = {of("patches", {2, 6, 12}, {.size = {4, 6}, .kernel = 2, .stride = 2}, {2, 4, 6, 3}),
                of("overlapping", {2, 9, 12}, {.size = {5, 4}, .kernel = {3, 2}}, {2, 5, 4, 2}),
                of("padded", {1, 10, 27},
                   {.size = {5, 4}, .kernel = 3, .stride = {2, 1}, .padding = {1, 0, 2, 1}},
                   {1, 5, 4, 3}),
                of("dilated", {2, 3, 18}, {.size = 7, .kernel = 3, .dilation = {2, 3}},
                   {2, 7, 7, 2}),
                of("depth", {2, 240, 3},
                   {.size = {6, 40}, .kernel = {3, 1}, .padding = {1, 1, 0, 0}}, {2, 6, 40, 1}),
                of("one_channel", {2, 57, 9},
                   {.size = {5, 19}, .kernel = 3, .padding = 1, .dilation = {2, 1}}, {2, 5, 19, 1}),
                of("two_channels", {2, 18, 8},
                   {.size = {5, 7}, .kernel = 2, .stride = {1, 3}, .padding = 1}, {2, 5, 7, 2}),
                of("four_channels", {1, 15, 8},
                   {.size = {4, 5}, .kernel = {2, 1}, .dilation = {1, 2}}, {1, 4, 5, 4}),
                of("narrow", {2, 4, 3}, {.size = {4, 1}, .kernel = {1, 3}, .padding = {0, 0, 1, 1}},
                   {2, 4, 1, 1}),
                of("many_channels", {2, 30, 180},
                   {.size = {6, 7}, .kernel = 3, .padding = 1, .dilation = {1, 2}}, {2, 6, 7, 20}),
                of("many_rows", {3, 2400, 125}, {.size = {60, 40}, .kernel = 5, .padding = 2},
                   {3, 60, 40, 5}),
                of("gaps", {1, 4, 3}, {.size = 5, .kernel = 1, .stride = 3}, {1, 5, 5, 3}),
                of("no_images", {0, 9, 8}, {.size = 4, .kernel = 2}, {0, 4, 4, 2})},
      .rejects = {rejects("rows", {1, 8, 8}, {.size = 4, .kernel = 2}, "x [N, 9, a multiple of 4]"),
                  rejects("cells", {1, 9, 7}, {.size = 4, .kernel = 2}, "a multiple of 4"),
                  rejects("no_size", {1, 9, 8}, {.size = 0, .kernel = 2}, "at least 1 by 1"),
                  rejects("huge_size", {1, 9, 8}, {.size = int64_t{1} << 62, .kernel = 2},
                          "at most 2147483647 pixels"),
                  rejects("many_pixels", {1, 0, 4}, {.size = int64_t{1} << 33, .kernel = 2},
                          "at most 2147483647 pixels"),
                  rejects("matrix", {9, 8}, {.size = 4, .kernel = 2}, "3 dimensions")},
  };
}

}  // namespace thimble::test::unfold_test
