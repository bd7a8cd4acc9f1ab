// The training steps of our recipes are packed within 1 % of the largest sum alive at once.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>

#include "plan/arena.h"
#include "plan/pack.h"

namespace thimble::plan {
namespace {

constexpr double kMostAboveBound = 1.01;

class recipe_packing : public ::testing::TestWithParam<const char*> {};

TEST_P(recipe_packing, is_within_one_percent_of_the_bound) {
  const Recipe& recipe = find_recipe(GetParam());
  for (const int64_t batch : {int64_t{1}, int64_t{8}, recipe.batch}) {
    const Trainer trainer(recipe.build(), {.optimizer = recipe.optimizer(), .batch = batch});
    std::vector<Buffer> buffers;
    int64_t arena_bytes = 0;
    for (const PlanBuffer& b : trainer.plan().buffers) {
      buffers.push_back({b.birth, b.death, aligned(b.bytes)});
      arena_bytes = std::max(arena_bytes, b.offset + b.bytes);
    }
    ASSERT_GT(buffers.size(), 10U);
    const auto bound = static_cast<double>(largest_live_bytes(buffers));
    EXPECT_LE(static_cast<double>(arena_bytes), kMostAboveBound * bound) << "batch " << batch;
    EXPECT_LE(static_cast<double>(trainer.plan().planned_peak_bytes),
              kMostAboveBound * static_cast<double>(trainer.plan().lower_bound_bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(recipes, recipe_packing,
                         ::testing::Values("vae", "lenet5", "mlp", "lstm", "gpt"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace thimble::plan
