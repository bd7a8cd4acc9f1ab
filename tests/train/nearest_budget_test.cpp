// The budget that a refusal names: the same for all that are too small, and one that works.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "models/nearest_budget.h"

namespace thimble::nearest_budget_test {
namespace {

Graph attention() {
  Graph graph;
  const Value tokens = graph.input("tokens", {22}, DType::i32);
  const Value y = graph.label("y", {22, 24}, DType::f32);
  const Value h = embedding(tokens, {.embeddings = 80, .width = 12});
  graph.minimize(mae(multi_head_attention(concat({h, h}, {.axis = -1}), {.heads = 2}), y));
  return graph;
}

TEST(nearest_budget, is_one_for_all_budgets_that_are_too_small) {
  TrainerOptions options{.optimizer = SGD{0.01}, .batch = 32, .threads = 1};
  int64_t without_file = 0;
  for (const auto& [swap, accumulate] :
       {std::pair(Swap::never, 3), std::pair(Swap::never, 1), std::pair(Swap::automatic, 1)}) {
    SCOPED_TRACE(fmt::format("swap {}, accumulate {}", static_cast<int>(swap), accumulate));
    options.swap = swap;
    options.accumulate = accumulate;
    const int64_t nearest = test::nearest_budget(attention(), options);
    for (const int64_t budget : {nearest - 1, nearest * 9 / 10}) {
      options.memory_budget = budget;
      const Plan plan = plan_training(attention(), options);
      EXPECT_FALSE(plan.fits);
      EXPECT_EQ(plan.nearest_feasible_bytes, nearest);
    }
    options.memory_budget = nearest;
    EXPECT_TRUE(plan_training(attention(), options).fits);
    // A swap file is possible but does not raise the budget that is named.
    if (swap == Swap::automatic) {
      EXPECT_LE(nearest, without_file);
    }
    without_file = nearest;
  }
}

// Two losses, whose programs for one sample could have more constants than those for many.
Graph two_losses() {
  Graph graph;
  const Value h = dense(graph.input("x", {40}), {.units = 4});
  std::vector<Value> losses;
  for (const char* const name : {"a", "b"}) {
    const Value y = graph.label(name, {12}, DType::f32);
    const Value mean = dense(h, {.units = 12});
    graph.output(name, mean);
    losses.push_back(gaussian_nll(mean, y, softplus(dense(h, {.units = 12})) + 0.1));
  }
  graph.minimize(losses[0] + losses[1]);
  return graph;
}

data::Dataset rows(int64_t count) {
  const auto of = [count](int64_t width) {
    return std::vector<float>(static_cast<size_t>(count * width), 0.5F);
  };
  return data::in_memory(
      {{"x", {40}}, {"a", {12}, DType::f32, true}, {"b", {12}, DType::f32, true}},
      {of(40), of(12), of(12)});
}

TEST(nearest_budget, is_enough_for_last_batches_of_any_size) {
  TrainerOptions options{.optimizer = Adagrad{}, .batch = 32, .threads = 1};
  options.memory_budget = test::nearest_budget(two_losses(), options);
  for (const int64_t last : {1, 2, 4, 8, 31}) {
    SCOPED_TRACE(last);
    Trainer trainer(two_losses(), options);
    const FitResult fit =
        trainer.fit(rows(32 + last), {.epochs = 1, .validation = rows(33 - last)});
    EXPECT_LE(fit.measured_peak_bytes, options.memory_budget);
    EXPECT_EQ(trainer.predict(rows(5), "a").elements(), 60);
  }
}

// Programs beside the updating one share what the budget leaves for their arena. Parameters that
// the loss does not depend on take their own memory, and no more.
TEST(nearest_budget, counts_what_no_loss_depends_on_once) {
  const auto model = [](bool with_more) {
    Graph graph;
    const Value x = graph.input("x", {40});
    Value h = x;
    for (int layer = 0; layer < 4; ++layer) h = relu(dense(h, {.units = 16}));
    if (with_more) graph.output("more", dense(h, {.units = 5000}));
    graph.minimize(softmax_cross_entropy(dense(h, {.units = 3}), graph.label("y")));
    return graph;
  };
  TrainerOptions options{.batch = 64, .swap = Swap::never, .micro_batches = 2, .threads = 1};
  options.accumulate = 2;
  constexpr int64_t kMore = 5000 * 16 * 4 + 20032;  // weight and bias in cache lines
  EXPECT_EQ(test::nearest_budget(model(true), options),
            test::nearest_budget(model(false), options) + kMore);
}

TEST(nearest_budget, is_no_more_than_a_plan_without_one_adds_up_to) {
  for (const Graph& graph : {attention(), two_losses()}) {
    TrainerOptions options{.batch = 32, .threads = 1};
    const Plan free = plan_training(graph, options);
    options.memory_budget =
        free.planned_peak_bytes + free.input_pipeline_bytes + free.reserved_bytes;
    EXPECT_TRUE(plan_training(graph, options).fits);
  }
}

}  // namespace
}  // namespace thimble::nearest_budget_test
