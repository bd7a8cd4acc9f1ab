// Sparse gradients of embeddings, which hold the rows that were read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <functional>

#include "goldens.h"
#include "stepper.h"
#include "train/compile.h"
#include "train/update.h"

namespace thimble::train::sparse_test {
namespace {

using nlohmann::json;
using test::Stepper;
using testing::HasSubstr;

// Twelve steps in float, relative to 1; see update_test.cpp.
constexpr float kTrajectoryTolerance = 2e-6F;

// A table "w" whose rows are read at "i" and get the gradients "g" there; with `twice` two
// embeddings of the same table share the places.
ir::Graph table_step(const Shape& table, int64_t places, const EmbeddingAttrs& attrs,
                     const UpdateOptions& options, bool twice = false) {
  ir::Graph graph;
  const Value w = graph.source("w", {DType::f32, table}, ir::Role::parameter);
  const Value i = graph.source("i", {DType::i32, {places}}, ir::Role::input);
  const Value g = graph.source("g", {DType::f32, {places, table[1]}}, ir::Role::input);
  std::vector<autodiff::Cotangent> seeds;
  const int64_t half = twice ? places / 2 : places;
  for (int64_t begin = 0; begin < places; begin += half) {
    const int64_t end = twice && begin > 0 ? places : begin + half;
    const auto part = [&](Value x) { return slice(x, 0, begin, end); };
    seeds.push_back({embedding(part(i), w, attrs), part(g)});
    if (end == places) break;
  }
  const std::vector<int> wanted{w.id()};
  append_updates(graph, autodiff::append_gradients(graph, seeds, wanted), options);
  return graph;
}

void follow(const json& goldens, const json& golden, const EmbeddingAttrs& attrs, bool fast,
            bool twice) {
  const Optimizer optimizer = Optimizer::parse(golden["settings"].get<std::string>());
  const Shape table{goldens["rows"].get<int64_t>(), goldens["width"].get<int64_t>()};
  const auto places = static_cast<int64_t>(goldens["indices"][0].size());
  const ir::Graph graph = table_step(table, places, attrs, {.optimizer = optimizer}, twice);
  Stepper stepper({&graph}, {.threads = 2, .fast = fast});
  const auto start = goldens["start"].get<std::vector<float>>();
  std::memcpy(stepper.store().find("w")->data, start.data(), start.size() * sizeof(float));
  const json& factors = test::optimizer_goldens()["lr_factors"];
  for (size_t step = 0; step < goldens["indices"].size(); ++step) {
    stepper.set("i", goldens["indices"][step].get<std::vector<int32_t>>());
    stepper.set("g", goldens["gradients"][step].get<std::vector<float>>());
    const double lr = optimizer.learning_rate() * factors[step].get<double>();
    stepper.set<float>(kLearningRateName, {static_cast<float>(lr)});
    stepper.set<int32_t>(kUpdateNumberName, {static_cast<int32_t>(step) + 1});
    ASSERT_TRUE(stepper.run());
    const auto wanted = golden["after"][step].get<std::vector<float>>();
    EXPECT_THAT(stepper.stored("w"),
                testing::Pointwise(testing::FloatNear(kTrajectoryTolerance), wanted))
        << optimizer.text() << ", step " << step;
  }
}

TEST(sparse, follows_pytorchs_trajectories) {
  const json& goldens = test::optimizer_goldens()["sparse"];
  const EmbeddingAttrs attrs{.padding_idx = goldens["padding_idx"], .sparse = true};
  for (const json& golden : goldens["cases"]) {
    for (const bool fast : {false, true}) {
      for (const bool twice : {false, true}) follow(goldens, golden, attrs, fast, twice);
    }
  }
}

// Where an optimizer leaves rows without a gradient as they are, sparse and dense agree.
TEST(sparse, is_the_whole_gradient_for_sgd_and_adagrad) {
  const json& goldens = test::optimizer_goldens()["sparse"];
  for (const json& golden : goldens["cases"]) {
    if (golden["settings"].get<std::string>().starts_with("sparse_adam")) continue;
    follow(goldens, golden, {.padding_idx = goldens["padding_idx"]}, true, false);
  }
}

Graph words(int64_t rows, bool sparse, bool tied = false) {
  Graph g;
  const Value tokens = g.input("tokens", {16}, DType::i32);
  const Value next = g.label("next");
  const Value y =
      embedding(tokens, {.embeddings = rows, .width = 8, .sparse = sparse, .name = "token"});
  const Value all = tied
                        ? matmul(flatten(y), reshape(g.ir().find_source("token.weight"), {128, -1}))
                        : dense(flatten(y), {.units = 10, .name = "head"});
  g.minimize(softmax_cross_entropy(all, next));
  return g;
}

Plan plan_of(const Graph& model, const TrainerOptions& options = {}) {
  return Trainer(model, options).plan();
}

int64_t largest_buffer(const Plan& plan) {
  int64_t largest = 0;
  for (const PlanBuffer& buffer : plan.buffers) largest = std::max(largest, buffer.bytes);
  return largest;
}

const TrainerOptions kAdam{.optimizer = Adam{}, .batch = 4};

TEST(sparse, needs_gradient_memory_that_does_not_grow_with_the_table) {
  const Plan small = plan_of(words(1000, true), kAdam);
  const Plan large = plan_of(words(50000, true), kAdam);
  EXPECT_EQ(small.arena_bytes, large.arena_bytes);
  EXPECT_EQ(large.parameter_bytes - small.parameter_bytes, 49000 * 8 * 4);
  EXPECT_LT(largest_buffer(large), 50000 * 8 * 4 / 10);
  // The check can fail: with dense gradients the memory grows.
  EXPECT_GE(largest_buffer(plan_of(words(50000, false), kAdam)), 50000 * 8 * 4);
}

TEST(sparse, keeps_a_whole_gradient_where_the_weight_is_also_used_elsewhere) {
  const Plan plan = plan_of(words(1600, true, true), kAdam);
  EXPECT_GE(largest_buffer(plan), 1600 * 8 * 4);
}

std::string refusal(const TrainerOptions& options) {
  try {
    plan_of(words(100, true), options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(sparse, refuses_settings_that_would_reach_other_rows) {
  EXPECT_EQ(refusal({.optimizer = SGD{.momentum = 0.9}, .batch = 4}),
            "[token.weight] has a sparse gradient, but momentum of sgd reaches every row; do "
            "without it, or leave out the embedding's sparse");
  EXPECT_THAT(refusal({.optimizer = AdamW{}, .batch = 4}),
              HasSubstr("weight_decay of adamw reaches every row; do without it (in a group for "
                        "this parameter)"));
  EXPECT_EQ(refusal({.optimizer = AdamW{},
                     .groups = {{.pattern = "token.*", .weight_decay = 0.0}},
                     .batch = 4}),
            "accepted");
  EXPECT_THAT(refusal({.optimizer = Adam{.state_bits = 8, .min_8bit_size = 1}, .batch = 4}),
              HasSubstr("state_bits=8 of adam"));
  EXPECT_THAT(refusal({.optimizer = Lion{}, .batch = 4}),
              HasSubstr("lion updates whole tensors alone; take one of adagrad, adam, adamw, sgd, "
                        "sparse_adam"));
  EXPECT_THAT(
      refusal({.optimizer = SGD{}, .batch = 4, .accumulate = 2}),
      HasSubstr(
          "accumulation keeps sums of whole gradients; set accumulate and micro_batches to 1"));
  EXPECT_THAT(
      refusal({.optimizer = SGD{}, .groups = {{.pattern = "token.*", .l2 = 0.1}}, .batch = 4}),
      HasSubstr("l1 and l2 pull at every row"));
}

// Limits apply to the sums of rows, as in the dense gradient.
TEST(sparse, is_limited_like_the_whole_gradient) {
  for (const GradientClip& clip : {GradientClip::by_value(0.3), GradientClip::by_tensor_norm(0.5),
                                   GradientClip::by_global_norm(0.5)}) {
    std::vector<std::vector<float>> after;
    for (const bool sparse : {false, true}) {
      const ir::Graph graph =
          table_step({6, 2}, 4, {.sparse = sparse}, {.optimizer = SGD{.lr = 1.0}, .clip = clip});
      Stepper stepper({&graph});
      stepper.set<int32_t>("i", {2, 5, 2, 0});
      stepper.set<float>("g", {1.0F, -0.5F, 0.1F, 0.2F, -0.9F, 0.25F, 2.0F, -0.75F});
      stepper.set<float>(kLearningRateName, {1.0F});
      stepper.set<int32_t>(kUpdateNumberName, {1});
      ASSERT_TRUE(stepper.run());
      after.push_back(stepper.stored("w"));
    }
    EXPECT_THAT(after[1], testing::Pointwise(testing::FloatNear(1e-6F), after[0]));
  }
}

// PyTorch shortens rows when it reads them; here the step does, before the update.
TEST(sparse, limits_the_norm_of_rows_that_were_read) {
  for (const bool sparse : {false, true}) {
    const ir::Graph graph =
        table_step({3, 2}, 3, {.max_norm = 1.0, .sparse = sparse}, {.optimizer = SGD{}});
    Stepper stepper({&graph});
    const std::vector<float> start{3.0F, 4.0F, 0.3F, 0.4F, 30.0F, 40.0F};
    std::memcpy(stepper.store().find("w")->data, start.data(), sizeof(float) * start.size());
    stepper.set<int32_t>("i", {0, 1, 0});
    stepper.set<float>("g", {1.0F, 0.0F, 0.0F, 1.0F, 1.0F, 0.0F});
    stepper.set<float>(kLearningRateName, {0.1F});
    stepper.set<int32_t>(kUpdateNumberName, {1});
    ASSERT_TRUE(stepper.run());
    EXPECT_THAT(stepper.stored("w"),
                testing::Pointwise(testing::FloatNear(1e-6F),
                                   std::vector<float>{0.4F, 0.8F, 0.3F, 0.3F, 30.0F, 40.0F}));
  }
}

// The table is also a factor of a product that stands before the embedding, whose gradients come
// after the embedding's.
TEST(sparse, limits_the_norm_of_rows_after_every_gradient) {
  ir::Graph graph;
  const Value w = graph.source("w", {DType::f32, {2, 2}}, ir::Role::parameter);
  const Value m = graph.source("m", {DType::f32, {1, 2}}, ir::Role::parameter);
  const Value i = graph.source("i", {DType::i32, {1}}, ir::Role::input);
  const Value g = graph.source("g", {DType::f32, {1, 2}}, ir::Role::input);
  const Value ones = graph.source("ones", {DType::f32, {1, 2}}, ir::Role::input);
  const Value product = matmul(m, w);
  const std::vector<autodiff::Cotangent> seeds{{product, ones},
                                               {embedding(i, w, {.max_norm = 1.0}), g}};
  const std::vector<int> wanted{w.id(), m.id()};
  append_updates(graph, autodiff::append_gradients(graph, seeds, wanted), {.optimizer = SGD{}});
  Stepper stepper({&graph});
  const std::vector<float> table{3.0F, 4.0F, 0.3F, 0.4F};
  std::memcpy(stepper.store().find("w")->data, table.data(), sizeof(float) * table.size());
  const std::vector<float> factor{1.0F, 2.0F};
  std::memcpy(stepper.store().find("m")->data, factor.data(), sizeof(float) * factor.size());
  stepper.set<int32_t>("i", {0});
  stepper.set<float>("g", {1.0F, 0.0F});
  stepper.set<float>("ones", {1.0F, 1.0F});
  stepper.set<float>(kLearningRateName, {0.1F});
  stepper.set<int32_t>(kUpdateNumberName, {1});
  ASSERT_TRUE(stepper.run());
  EXPECT_THAT(stepper.stored("w"), testing::Pointwise(testing::FloatNear(1e-6F),
                                                      std::vector<float>{0.4F, 0.7F, 0.1F, 0.2F}));
  EXPECT_THAT(stepper.stored("m"),
              testing::Pointwise(testing::FloatNear(1e-6F), std::vector<float>{0.3F, 1.93F}));
}

}  // namespace
}  // namespace thimble::train::sparse_test
