// Gradients consumed tile by tile: the memory saved, where it applies, and that no bit changes.
#include <gmock/gmock.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/optimizer_value.h"
#include "passes/passes.h"
#include "plan/lifetimes.h"
#include "plan/order/order.h"
#include "plan/remat/recompute.h"
#include "plan/update/tiled_update.h"
#include "train/compile.h"
#include "train/stepper.h"
#include "train/update.h"

namespace thimble::plan::tiled_update_test {
namespace {

constexpr int64_t kBatch = 6;
constexpr int kFeatures = 700;

Graph dense_layers() {
  Graph g;
  Value x = relu(dense(g.input("x", {kFeatures}), {.units = 260, .name = "first"}));
  x = relu(dense(x, {.units = 300, .name = "second"}));
  g.minimize(mean(square(dense(x, {.units = 3, .name = "third"}))));
  return g;
}

Graph convolutions() {
  Graph g;
  Value x = reshape(g.input("x", {kFeatures}), {-1, 5, 5, 28});
  x = relu(conv2d(x, {.channels = 160, .kernel = 3, .padding = 1, .name = "first"}));
  x = relu(conv2d(x, {.channels = 120, .kernel = 3, .stride = 2, .name = "second"}));
  g.minimize(mean(square(x)));
  return g;
}

// One weight that two products read; its gradient is a sum.
Graph shared_weight() {
  Graph g;
  const Value x = g.input("x", {kFeatures});
  const Value w = g.parameter("w", {kFeatures, kFeatures}, init::he_uniform());
  g.minimize(mean(square(matmul(relu(matmul(x, w)), w))));
  return g;
}

ir::Graph step_of(const Graph& model, TrainerOptions options,
                  train::StepKind kind = train::StepKind::update) {
  options.batch = kBatch;
  const ir::Graph step = train::training_graph(model.ir(), options, kBatch, kind);
  return order_nodes(passes::optimize(step));
}

int tiled(const ir::Graph& graph) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(),
                    [](const ir::Node& node) { return node.tiled != nullptr; }));
}

std::vector<float> batch_at(int step) {
  std::vector<float> values(kBatch * kFeatures);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.37F * static_cast<float>(i) + static_cast<float>(step));
  }
  return values;
}

void set_step(test::Stepper& stepper, int step) {
  stepper.set("x", batch_at(step));
  stepper.set(train::kLearningRateName, std::vector<float>{0.01F});
  stepper.set(train::kUpdateNumberName, std::vector<int32_t>{step});
  stepper.set(train::kMomentumName, std::vector<float>{0.6F});
  stepper.set(train::kTotalWeightName, std::vector<float>{1.0F});
}

// Bytes of every parameter and state after three steps.
std::vector<std::vector<float>> trained(const ir::Graph& graph, int threads) {
  test::Stepper stepper({&graph}, {.threads = threads, .optimize = false});
  for (int step = 1; step <= 3; ++step) {
    set_step(stepper, step);
    EXPECT_TRUE(stepper.run());
  }
  std::vector<std::vector<float>> all;
  for (const exec::Store::Entry& entry : stepper.store().entries()) {
    if (entry.type.dtype == DType::f32) all.push_back(stepper.stored(entry.name));
  }
  return all;
}

struct Case {
  const char* name;
  Graph (*model)();
  TrainerOptions options;
  int tiled;  // updates
  train::StepKind kind = train::StepKind::update;
};

std::vector<Case> cases() {
  const Optimizer cycled = SGD{.momentum = 0.9};
  return {
      {"adamw", dense_layers, {.optimizer = AdamW{}}, 2},
      {"amsgrad", dense_layers, {.optimizer = Adam{.amsgrad = true}}, 2},
      {"plain_sgd", dense_layers, {.optimizer = SGD{}}, 2},
      {"sgd_of_convolutions", convolutions, {.optimizer = SGD{.momentum = 0.9}}, 2},
      {"adamw_of_convolutions", convolutions, {.optimizer = AdamW{}}, 2},
      {"rmsprop", dense_layers, {.optimizer = RMSProp{.momentum = 0.5}}, 2},
      {"averages", dense_layers, {.optimizer = AdamW{}, .ema_decay = 0.9}, 2},
      {"groups",
       dense_layers,
       {.optimizer = AdamW{}, .groups = {{.pattern = "second.*", .lr_scale = 0.3}}},
       2},
      {"a_cycled_momentum",
       dense_layers,
       {.optimizer = cycled,
        .schedule = Schedule::one_cycle({.max = 0.1, .total_steps = 9, .cycle_momentum = true})},
       2},
      {"penalties_between",
       dense_layers,
       {.optimizer = AdamW{}, .groups = {{.pattern = "first.*", .l2 = 0.1}}},
       1},
      {"rules_for_whole_tensors", dense_layers, {.optimizer = LARS{}}, 0},
      {"a_state_of_one_number", dense_layers, {.optimizer = NAdam{}}, 0},
      {"states_in_blocks",
       dense_layers,
       {.optimizer = AdamW{.state_bits = 8, .min_8bit_size = 1}},
       0},
      {"clipping",
       dense_layers,
       {.optimizer = AdamW{}, .clip = GradientClip::by_global_norm(1.0)},
       0},
      {"accumulation",
       dense_layers,
       {.optimizer = AdamW{}, .accumulate = 2},
       0,
       train::StepKind::finish},
      {"sums_of_gradients", shared_weight, {.optimizer = AdamW{}}, 0},
  };
}

TEST(tiled_update, changes_no_bit_and_leaves_updates_that_need_whole_gradients) {
  for (const Case& each : cases()) {
    const ir::Graph before = step_of(each.model(), each.options, each.kind);
    const ir::Graph after = tile_updates(before, {});
    ir::verify(after);
    EXPECT_EQ(tiled(after), each.tiled) << each.name;
    const auto wanted = trained(before, 1);
    for (const int threads : {1, 4}) EXPECT_EQ(trained(after, threads), wanted) << each.name;
  }
}

TEST(tiled_update, lowers_the_peak_and_never_raises_it) {
  for (const int threads : {1, 4}) {
    const ArenaOptions options{.threads = threads};
    for (const Case& each : cases()) {
      const ir::Graph before = step_of(each.model(), each.options, each.kind);
      const ir::Graph after = tile_updates(before, options);
      EXPECT_LE(live_peak_bytes(recompute(after, {.arena = options}), options),
                live_peak_bytes(recompute(before, {.arena = options}), options))
          << each.name;
    }
    const ir::Graph before = step_of(dense_layers(), {.optimizer = AdamW{}});
    const int64_t first_weight = 260 * kFeatures * 4;
    EXPECT_LT(live_peak_bytes(tile_updates(before, options), options),
              live_peak_bytes(before, options) - first_weight / 2);
  }
}

TEST(tiled_update, stands_behind_everything_that_reads_the_parameter) {
  const ir::Graph after = tile_updates(step_of(dense_layers(), {.optimizer = AdamW{}}), {});
  for (size_t n = 0; n < after.nodes.size(); ++n) {
    for (const ir::Alias& alias : after.nodes[n].op->memory.updates) {
      const int changed = after.nodes[n].input(alias.in);
      for (size_t later = n + 1; changed >= 0 && later < after.nodes.size(); ++later) {
        const std::vector<int>& inputs = after.nodes[later].inputs;
        EXPECT_EQ(std::count(inputs.begin(), inputs.end(), changed), 0);
      }
    }
  }
}

TEST(tiled_update, is_printed_with_its_gradient_and_its_rows) {
  const ir::Graph after = tile_updates(step_of(dense_layers(), {.optimizer = AdamW{}}), {});
  const std::string text = ir::text(after);
  EXPECT_THAT(text,
              testing::ContainsRegex(
                  "adamw_update\\(%[0-9]+, none, .*with matmul \\{.*\\} in tiles of [0-9]+ rows"));
  const Arena arena = plan_arena(after, {});
  EXPECT_EQ(std::count_if(arena.plan.steps.begin(), arena.plan.steps.end(),
                          [](const PlanStep& step) { return step.op == "tiled adamw_update"; }),
            2);
}

// One broken graph for every way in which a tiled update can be wrong.
TEST(tiled_update, is_verified) {
  struct Break {
    const char* error;
    void (*apply)(ir::Node& node, ir::TiledGradient& tiled);
  };
  const Break breaks[] = {
      {"inputs, its op declares", [](auto& node, auto&) { node.inputs.resize(3); }},
      {"reads a whole gradient", [](auto& node, auto&) { node.inputs[1] = node.inputs[0]; }},
      {"cannot be computed by rows", [](auto&, auto& tiled) { tiled.op = ir::find_op("relu"); }},
      {"another op's attributes", [](auto&, auto& tiled) { tiled.attrs = {}; }},
      {"without rows", [](auto&, auto& tiled) { tiled.rows = 0; }},
      {"a rule for whole tensors",
       [](auto& node, auto&) {
         const Optimizer lars = LARS{};
         node.op = lars.value().op;
         node.attrs = lars.value().settings;
         node.inputs.insert(node.inputs.begin() + 4, 8, -1);
       }},
      {"not of the parameter's type",
       [](auto& node, auto&) { node.inputs.back() = node.inputs[node.inputs.size() - 2]; }},
  };
  const ir::Graph sound = tile_updates(step_of(dense_layers(), {.optimizer = SGD{}}), {});
  ir::verify(sound);
  for (const Break& broken : breaks) {
    ir::Graph graph = sound;
    const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [](const ir::Node& each) { return each.tiled != nullptr; });
    auto tiled = std::make_shared<ir::TiledGradient>(*node->tiled);
    broken.apply(*node, *tiled);
    node->tiled = tiled;
    try {
      ir::verify(graph);
      ADD_FAILURE() << "accepted: " << broken.error;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(broken.error));
    }
  }
}

TEST(tiled_update, is_left_out_with_reference_kernels) {
  const ir::Graph before = step_of(dense_layers(), {.optimizer = AdamW{}});
  EXPECT_EQ(tiled(tile_updates(before, {.fast = false})), 0);
}

TEST(tiled_update, changes_nothing_where_the_loss_is_not_finite) {
  const ir::Graph after = tile_updates(step_of(dense_layers(), {.optimizer = AdamW{}}), {});
  ASSERT_EQ(tiled(after), 2);
  test::Stepper stepper({&after}, {.optimize = false});
  const std::vector<float> weights = stepper.stored("first.weight");
  set_step(stepper, 1);
  std::vector<float> bad = batch_at(1);
  bad[3] = std::numeric_limits<float>::quiet_NaN();
  stepper.set("x", bad);
  EXPECT_FALSE(stepper.run());
  EXPECT_EQ(stepper.stored("first.weight"), weights);
  EXPECT_EQ(stepper.stored("second.weight.exp_avg"), std::vector<float>(260 * 300, 0.0F));
  set_step(stepper, 1);
  EXPECT_TRUE(stepper.run());
  EXPECT_NE(stepper.stored("first.weight"), weights);
}

}  // namespace
}  // namespace thimble::plan::tiled_update_test
