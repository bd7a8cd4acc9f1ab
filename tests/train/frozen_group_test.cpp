// Groups of parameters that one training leaves as they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "models/small_models.h"

namespace thimble::train::frozen_group_test {
namespace {

using testing::HasSubstr;

Plan plan_of(const Graph& graph, std::vector<ParamGroup> groups) {
  return plan_training(graph, {.groups = std::move(groups), .batch = 8, .threads = 1});
}

std::vector<float> weights_of(const Trainer& trainer, const std::string& name) {
  return trainer.parameter(name).as<float>();
}

TEST(frozen_group, keeps_its_parameters_and_takes_no_state_for_them) {
  const Graph graph = test::small_network();
  Trainer trainer(
      graph,
      {.groups = {{.pattern = "conv.*", .frozen = true}}, .batch = 8, .seed = 2, .threads = 1});
  const std::vector<float> before = weights_of(trainer, "conv.weight");
  const std::vector<float> head = weights_of(trainer, "dense.weight");
  trainer.fit(test::small_data(32), {.epochs = 2});
  EXPECT_EQ(weights_of(trainer, "conv.weight"), before);
  EXPECT_NE(weights_of(trainer, "dense.weight"), head);
  const Plan plan = trainer.plan();
  for (const PlanBuffer& buffer : plan.buffers) {
    EXPECT_THAT(buffer.name, testing::Not(HasSubstr("weight_grad"))) << "of a frozen convolution";
  }
  const Plan whole = plan_of(graph, {});
  EXPECT_EQ(plan.parameter_bytes, whole.parameter_bytes);
  // AdamW keeps two moments: of 5 * 3 * 3 * 2 weights and 5 biases.
  EXPECT_EQ(whole.state_bytes - plan.state_bytes, 2 * 4 * (5 * 3 * 3 * 2 + 5));
  EXPECT_LT(plan.planned_peak_bytes, whole.planned_peak_bytes);
}

TEST(frozen_group, of_16_bit_parameters_alone_is_named_as_why_nothing_trains) {
  Graph g;
  const Value w = g.parameter("w", {2}, init::zeros(), DType::bf16);
  g.minimize(mean(g.input("x", {2}) * cast(w, DType::f32)));
  EXPECT_THAT([&] { static_cast<void>(plan_of(g, {})); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("\"w\" is of bf16, and only parameters of f32 are trained")));
}

TEST(frozen_group, is_the_same_as_a_frozen_graph) {
  Graph frozen = test::small_network();
  frozen.freeze("conv.*");
  const data::Dataset set = test::small_data(32);
  Trainer a(frozen, {.batch = 8, .seed = 2, .threads = 1});
  Trainer b(
      test::small_network(),
      {.groups = {{.pattern = "conv.*", .frozen = true}}, .batch = 8, .seed = 2, .threads = 1});
  EXPECT_EQ(a.fit(set, {.epochs = 2}).epochs.back().train.loss,
            b.fit(set, {.epochs = 2}).epochs.back().train.loss);
  EXPECT_EQ(a.weights_sha256(), b.weights_sha256());
}

TEST(frozen_group, leaves_parameters_that_match_an_earlier_group) {
  const Graph graph = test::small_network();
  const Plan head = plan_of(graph, {{.pattern = "dense.*"}, {.pattern = "*", .frozen = true}});
  EXPECT_EQ(head.state_bytes - plan_of(graph, {}).state_bytes,
            -2 * 4 * (5 * 3 * 3 * 2 + 5 + 5 + 5));
}

TEST(frozen_group, must_match_a_parameter_and_leave_one) {
  const Graph graph = test::small_network();
  EXPECT_THAT([&] { (void)plan_of(graph, {{.pattern = "convolution.*", .frozen = true}}); },
              testing::ThrowsMessage<Error>(HasSubstr("matches no parameter")));
  EXPECT_THAT([&] { (void)plan_of(graph, {{.pattern = "*", .frozen = true}}); },
              testing::ThrowsMessage<Error>(HasSubstr("nothing to train")));
}

}  // namespace
}  // namespace thimble::train::frozen_group_test
