// The planned peak of every recipe is below a bound derived by hand, and the guide's page has these
// numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "models/hand_bound.h"

namespace thimble::memory_bounds_test {
namespace {

constexpr double kMib = 1024.0 * 1024.0;
constexpr double kRounding = 0.0051;  // the page has two places
constexpr double kGrowth = 1.01;      // of a planned peak, above which the page must be updated
const char* const kPage = THIMBLE_SOURCE_DIR "/docs/guide/memory-bounds.md";

struct Case {
  const char* name;
  double most_mib;  // a bound from another derivation; 0: none
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

// With an ample budget only products of very little work are recomputed.
TrainerOptions options_of(const Recipe& recipe) {
  return {.optimizer = recipe.optimizer(),
          .batch = recipe.batch,
          .memory_budget = int64_t{1} << 40,
          .threads = 1};
}

// The numbers behind a recipe's name in the first table of the page that has it.
std::vector<double> row_of(const std::string& recipe) {
  std::ifstream page(kPage);
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| " + recipe + " | ", 0) != 0) continue;
    std::vector<double> numbers;
    std::istringstream cells(line.substr(recipe.size() + 4));
    for (std::string cell; std::getline(cells, cell, '|');) {
      std::istringstream number(cell);
      double value = 0.0;
      if (number >> value) numbers.push_back(value);
    }
    return numbers;
  }
  return {};
}

class memory_bounds : public testing::TestWithParam<Case> {};

TEST_P(memory_bounds, are_kept_by_the_plan) {
  const Recipe& recipe = find_recipe(GetParam().name);
  const test::HandBound bound(recipe, options_of(recipe));
  const Plan plan = Trainer(recipe.build(), options_of(recipe)).plan();
  EXPECT_LE(plan.planned_peak_bytes, bound.total());
  EXPECT_EQ(plan.parameter_bytes, bound.parameters);
  EXPECT_EQ(plan.state_bytes, bound.state);
  if (GetParam().most_mib == 0.0) return;
  EXPECT_LE(static_cast<double>(plan.planned_peak_bytes) / kMib, GetParam().most_mib);
  EXPECT_NEAR(static_cast<double>(bound.total()) / kMib, GetParam().most_mib,
              0.005 * GetParam().most_mib);
}

TEST_P(memory_bounds, are_those_of_the_guide) {
  const Recipe& recipe = find_recipe(GetParam().name);
  const test::HandBound bound(recipe, options_of(recipe));
  const std::vector<double> row = row_of(GetParam().name);
  ASSERT_EQ(row.size(), 8U) << kPage;
  EXPECT_EQ(row[0], static_cast<double>(recipe.batch));
  const int64_t derived[] = {bound.parameters, bound.state,  bound.gradients,
                             bound.kept,       bound.moment, bound.total()};
  for (size_t i = 0; i < std::size(derived); ++i) {
    EXPECT_NEAR(row[i + 1], static_cast<double>(derived[i]) / kMib, kRounding) << "column " << i;
  }
  const Plan plan = Trainer(recipe.build(), options_of(recipe)).plan();
  EXPECT_LE(static_cast<double>(plan.planned_peak_bytes) / kMib, kGrowth * row[7]);
}

INSTANTIATE_TEST_SUITE_P(recipes, memory_bounds,
                         testing::Values(Case{"vae", 0.89}, Case{"lenet5", 0.0}, Case{"mlp", 0.0},
                                         Case{"mobilenetv2", 24.0}, Case{"resnet18", 0.0},
                                         Case{"lstm", 0.0}, Case{"gpt", 0.0},
                                         Case{"unet_ddpm", 0.0}),
                         [](const auto& info) { return std::string(info.param.name); });

// Otherwise the bounds would be too loose to mean anything.
TEST(hand_bound, is_far_below_keeping_everything_where_there_are_norms) {
  for (const char* name : {"vae", "mobilenetv2", "resnet18", "unet_ddpm", "gpt"}) {
    const Recipe& recipe = find_recipe(name);
    const test::HandBound bound(recipe, options_of(recipe));
    EXPECT_LT(static_cast<double>(bound.kept), 0.7 * static_cast<double>(bound.everything)) << name;
  }
}

}  // namespace
}  // namespace thimble::memory_bounds_test
