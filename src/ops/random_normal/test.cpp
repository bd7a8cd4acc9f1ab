#include <cmath>

#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/random/random_cases.h"
#include "ops/random_normal/attrs.h"

namespace thimble::test::random_normal_test {
namespace {

OpCase draw(const char* name, const RandomNormalAttrs& attrs) {
  return draw_case(name, attrs, 1e-6);
}

}  // namespace

THIMBLE_OP_CASES(random_normal) {
  const auto attrs = [](double mean, double stddev) {
    return ir::Attrs::of(RandomNormalAttrs{{2}, mean, stddev, 0});
  };
  return {
      .cases = {draw("standard", {.shape = {3, 7}}),
                draw("shifted", {.shape = {258}, .mean = -3.0, .stddev = 0.25, .stream = 9}),
                draw("scalar", {.shape = {}}), draw("empty", {.shape = {0, 3}}),
                draw("constant", {.shape = {5}, .mean = 2.5, .stddev = 0.0}),
                draw("many", {.shape = {3, 70001}, .stream = 12345})},
      .rejects = {draw_reject("negative_stddev", attrs(1.0, -1.0), "stddev >= 0"),
                  draw_reject("infinite", attrs(INFINITY, 1.0), "finite mean"),
                  short_state_reject(attrs(0.0, 1.0))},
  };
}

TEST(random_normal, has_the_moments_of_a_normal_distribution) {
  Graph g;
  const std::vector<uint32_t> rng{7, 0, 1, 0};
  const auto y = evaluate(random_normal(g, {100000}, {.mean = 1.0, .stddev = 2.0}), rng);
  double moments[5] = {};
  for (const double v : y) {
    const double z = (v - 1.0) / 2.0;
    double power = 1.0;
    for (double& moment : moments) {
      moment += power / 1e5;
      power *= z;
    }
  }
  // Five standard deviations: of z^k they are 1, sqrt(2), sqrt(15) and sqrt(96).
  const double unit = 5.0 / std::sqrt(1e5);
  EXPECT_NEAR(moments[1], 0.0, unit);
  EXPECT_NEAR(moments[2], 1.0, unit * std::sqrt(2.0));
  EXPECT_NEAR(moments[3], 0.0, unit * std::sqrt(15.0));
  EXPECT_NEAR(moments[4], 3.0, unit * std::sqrt(96.0));
}

TEST(random_normal, gives_neighbours_that_do_not_depend_on_each_other) {
  Graph g;
  const auto y = evaluate(random_normal(g, {100000}), std::vector<uint32_t>{9, 0, 1, 0});
  for (const size_t distance : {1, 2, 4}) {
    double sum = 0.0;
    for (size_t i = distance; i < y.size(); ++i) {
      sum += static_cast<double>(y[i]) * static_cast<double>(y[i - distance]);
    }
    EXPECT_NEAR(sum / 1e5, 0.0, 5.0 / std::sqrt(1e5)) << "at distance " << distance;
  }
}

TEST(random_normal, takes_the_shape_of_a_value_and_its_batch) {
  Graph g;
  const Value y = random_normal(g.input("x", {3}));
  EXPECT_EQ(to_string(y.shape()), "[N, 3]");
  EXPECT_EQ(ir::with_batch(g.ir(), 5).type(y.id()).shape, (Shape{5, 3}));
}

}  // namespace thimble::test::random_normal_test
