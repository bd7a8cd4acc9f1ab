#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::grid_sample_test {
namespace {

// Float and double round a point in different ways: what is close to a pixel's border is compared
// with this tolerance.
constexpr double kPointTolerance = 2e-5;

OpCase of(const std::string& name, const Shape& x, Pair points, const GridSampleOptions& options) {
  return {
      .name = name,
      .inputs = {{.shape = x}, {.shape = {x[0], points.h, points.w, 2}, .low = -1.7, .high = 1.6}},
      .attrs = ir::Attrs::of(options),
      .expect = {{x[0], points.h, points.w, x[3]}},
      .tolerance = kPointTolerance};
}

// points: of planes, rows and columns.
OpCase of_volumes(const std::string& name, const Shape& x, const Shape& points,
                  const GridSampleOptions& options) {
  const Shape grid = {x[0], points[0], points[1], points[2], 3};
  return {.name = name,
          .inputs = {{.shape = x}, {.shape = grid, .low = -1.7, .high = 1.6}},
          .attrs = ir::Attrs::of(options),
          .expect = {{x[0], points[0], points[1], points[2], x[4]}},
          .tolerance = kPointTolerance};
}

}  // namespace

THIMBLE_OP_CASES(grid_sample) {
  std::vector<OpCase> cases;
  const char* const modes[] = {"bilinear", "nearest", "bicubic"};
  const char* const paddings[] = {"zeros", "border", "reflection"};
  for (int mode = 0; mode < 3; ++mode) {
    for (int padding = 0; padding < 3; ++padding) {
      for (const bool align : {false, true}) {
        const GridSampleOptions options{static_cast<GridMode>(mode),
                                        static_cast<GridPadding>(padding), align};
        const std::string name =
            std::string(modes[mode]) + "_" + paddings[padding] + (align ? "_aligned" : "");
        cases.push_back(of(name, {2, 4, 5, 3}, {3, 4}, options));
        if (options.mode == GridMode::bicubic) continue;
        cases.push_back(of_volumes("volumes_" + name, {2, 3, 4, 5, 3}, {2, 2, 3}, options));
      }
    }
  }
  const GridSampleOptions reflection{.padding = GridPadding::reflection, .align_corners = true};
  // Of so many points some cross to another pixel between two finite differences.
  cases.push_back(of("many_points", {3, 9, 8, 20}, {70, 50}, {}));
  cases.back().no_grad = {1};
  cases.push_back(of("seven_channels", {2, 9, 8, 7}, {5, 9}, {}));
  cases.push_back(of("one_pixel", {1, 1, 1, 2}, {3, 3}, reflection));
  cases.push_back(of("no_images", {0, 4, 5, 3}, {3, 4}, {}));
  cases.push_back(of_volumes("many_points_in_volumes", {2, 5, 6, 4, 18}, {9, 20, 13}, {}));
  cases.back().no_grad = {1};
  cases.push_back(of_volumes("one_pixel_of_volumes", {1, 1, 1, 1, 2}, {2, 2, 2}, reflection));
  cases.push_back(of_volumes("no_volumes", {0, 3, 4, 5, 3}, {2, 3, 4}, {}));
  const TensorSpec volumes{.shape = {2, 3, 4, 5, 3}};
  const ir::Attrs bicubic = ir::Attrs::of(GridSampleOptions{.mode = GridMode::bicubic});
  const TensorSpec x{.shape = {2, 4, 5, 3}};
  const ir::Attrs attrs = ir::Attrs::of(GridSampleOptions{});
  return {
      .cases = cases,
      .rejects = {
          {"other_batch", {x, {.shape = {3, 2, 2, 2}}}, attrs, "a grid for each image"},
          {"three_coordinates", {x, {.shape = {2, 2, 2, 3}}}, attrs, "[N, P, Q, 2]"},
          {"flat_grid", {volumes, {.shape = {2, 2, 2, 3}}}, attrs, "[N, O, P, Q, 3]"},
          {"two_coordinates", {volumes, {.shape = {2, 2, 2, 2, 2}}}, attrs, "[N, O, P, Q, 3]"},
          {"bicubic_volumes",
           {volumes, {.shape = {2, 2, 2, 2, 3}}},
           bicubic,
           "bilinear or nearest"},
          {"empty_volumes",
           {{.shape = {2, 0, 4, 5, 3}}, {.shape = {2, 2, 2, 2, 3}}},
           attrs,
           "at least 1 by 1 by 1"},
          {"sequences", {{.shape = {2, 4, 5}}, {.shape = {2, 2, 2, 2}}}, attrs, "images"},
          {"empty", {{.shape = {2, 0, 5, 3}}, {.shape = {2, 2, 2, 2}}}, attrs, "at least 1 by 1"}}};
}

TEST(grid_sample, takes_no_number_and_infinity_for_far_outside) {
  const Tensor x = tensor({1, 2, 2, 1}, {1, 2, 3, 4});
  const Tensor grid = tensor({1, 1, 3, 2}, {NAN, 0, INFINITY, 0, 0, -INFINITY});
  const auto run = [&](GridPadding padding) {
    return values_of<float>(run_op("grid_sample",
                                   ir::Attrs::of(GridSampleOptions{.padding = padding}), {x, grid},
                                   Kernel::fast)[0]);
  };
  EXPECT_EQ(run(GridPadding::zeros), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(run(GridPadding::border), (std::vector<float>{2, 3, 1.5F}));
  for (const float value : run(GridPadding::reflection)) EXPECT_TRUE(std::isfinite(value));
}

TEST(grid_sample, repeats_the_border_that_a_far_point_is_beyond) {
  const Tensor x = tensor({1, 2, 2, 1}, {1, 2, 3, 4});
  const Tensor grid =
      tensor({1, 1, 5, 2}, {1e8F, -0.5F, 1e9F, -0.5F, 1e30F, 0.5F, -1e9F, 0.5F, -0.5F, 1e9F});
  for (const GridMode mode : {GridMode::bilinear, GridMode::nearest, GridMode::bicubic}) {
    const ir::Attrs attrs =
        ir::Attrs::of(GridSampleOptions{.mode = mode, .padding = GridPadding::border});
    for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
      EXPECT_EQ(values_of<float>(run_op("grid_sample", attrs, {x, grid}, kernel)[0]),
                (std::vector<float>{2, 2, 4, 3, 3}));
    }
  }
}

TEST(grid_sample, leaves_an_image_as_it_is_at_its_own_pixels) {
  const std::vector<float> pixels = {1, 2, 3, 4, 5, 6};
  const Tensor grid = tensor({1, 2, 3, 2}, {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1});
  for (const GridMode mode : {GridMode::bilinear, GridMode::nearest, GridMode::bicubic}) {
    const ir::Attrs attrs = ir::Attrs::of(GridSampleOptions{.mode = mode, .align_corners = true});
    EXPECT_EQ(values_of<float>(run_op("grid_sample", attrs, {tensor({1, 2, 3, 1}, pixels), grid},
                                      Kernel::fast)[0]),
              pixels);
  }
}

}  // namespace thimble::test::grid_sample_test
