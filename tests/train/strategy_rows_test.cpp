// Rows of a plan for savings that options ask for and the planner does not choose.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <algorithm>

#include "models/nearest_budget.h"
#include "models/small_models.h"

namespace thimble::train::strategy_rows_test {
namespace {

const PlanStrategy* row_of(const Plan& plan, const std::string& name) {
  const auto row = std::find_if(plan.strategies.begin(), plan.strategies.end(),
                                [&](const PlanStrategy& s) { return s.name == name; });
  return row == plan.strategies.end() ? nullptr : &*row;
}

// Each row's peak is that of the row before, less the bytes that it saved.
void expect_adds_up(const Plan& plan) {
  for (size_t i = 1; i < plan.strategies.size(); ++i) {
    const PlanStrategy& row = plan.strategies[i];
    EXPECT_EQ(plan.strategies[i - 1].left_bytes - row.saved_bytes, row.left_bytes) << row.name;
  }
  EXPECT_EQ(plan.strategies.back().left_bytes, plan.planned_peak_bytes);
}

TEST(strategy_rows, say_what_moments_of_8_bits_and_a_sparse_update_save) {
  const Graph model = find_recipe("lenet5").build();
  TrainerOptions options{.optimizer = AdamW{}, .batch = 8, .threads = 1};
  const Plan free = plan_training(model, options);
  EXPECT_EQ(row_of(free, "optimizer state in 8 bits"), nullptr);
  EXPECT_EQ(row_of(free, "sparse update"), nullptr);
  options.optimizer = AdamW{.state_bits = 8};
  options.groups = {{.pattern = "conv*", .frozen = true}};
  options.micro_batches = 2;
  const Plan plan = plan_training(model, options);
  expect_adds_up(plan);
  const PlanStrategy* const moments = row_of(plan, "optimizer state in 8 bits");
  ASSERT_NE(moments, nullptr);
  EXPECT_FALSE(moments->lossless);
  EXPECT_NEAR(static_cast<double>(moments->saved_bytes),
              static_cast<double>(plan.saved_state_bytes),
              2048.0);  // up to rounding to cache lines
  const PlanStrategy* const frozen = row_of(plan, "sparse update");
  ASSERT_NE(frozen, nullptr);
  EXPECT_FALSE(frozen->lossless);
  EXPECT_EQ(frozen->detail, "conv* frozen");
  EXPECT_GT(frozen->saved_bytes, 0);
  ASSERT_NE(row_of(plan, "micro-batches"), nullptr);
}

TEST(strategy_rows, say_what_programs_beside_a_step_that_swaps_take) {
  TrainerOptions options{.batch = 8, .swap = Swap::always, .threads = 1};
  options.accumulate = 2;
  const Graph model = find_recipe("lenet5").build();
  const int64_t nearest = test::nearest_budget(model, options);
  for (const int64_t more : {0, 20'000, 80'000}) {
    options.memory_budget = nearest + more;
    const Plan plan = plan_training(model, options);
    expect_adds_up(plan);
    EXPECT_GT(plan.swap_file_bytes, 0);
  }
}

TEST(strategy_rows, say_that_split_batch_norms_are_another_training) {
  TrainerOptions options{.batch = 8, .micro_batches = 2, .split_batch_norm = true, .threads = 1};
  const PlanStrategy* row = nullptr;
  const Plan norms = plan_training(find_recipe("vae").build(), options);
  ASSERT_NE(row = row_of(norms, "micro-batches"), nullptr);
  EXPECT_FALSE(row->lossless);
  const Plan plain = plan_training(find_recipe("lenet5").build(), options);
  ASSERT_NE(row = row_of(plain, "micro-batches"), nullptr);
  EXPECT_TRUE(row->lossless);
}

TEST(strategy_rows, say_where_16_bits_were_asked_for_and_nothing_was_found) {
  const Graph model = test::small_network();  // no tensor of 4 KiB with two samples
  const Plan idle =
      plan_training(model, {.batch = 2, .saved_activations = DType::bf16, .threads = 1});
  const PlanStrategy* const row = row_of(idle, "16-bit activations");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->saved_bytes, 0);
  EXPECT_TRUE(row->lossless);
  EXPECT_NE(row->detail.find("none found"), std::string::npos);
  expect_adds_up(idle);
  EXPECT_EQ(row_of(plan_training(model, {.batch = 2, .threads = 1}), row->name), nullptr);
  const Plan busy = plan_training(find_recipe("vae").build(),
                                  {.batch = 8, .saved_activations = DType::bf16, .threads = 1});
  ASSERT_NE(row_of(busy, row->name), nullptr);
  EXPECT_GT(row_of(busy, row->name)->saved_bytes, 0);
  EXPECT_FALSE(row_of(busy, row->name)->lossless);
}

}  // namespace
}  // namespace thimble::train::strategy_rows_test
