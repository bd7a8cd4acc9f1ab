#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "passes/passes.h"

namespace thimble::test::reparametrize_test {

THIMBLE_OP_CASES(reparametrize) {
  const auto three = [](const char* name, const Shape& shape) -> OpCase {
    return {
        .name = name,
        .inputs = {{.shape = shape}, {.shape = shape, .low = -3.0, .high = 3.0}, {.shape = shape}},
        .expect = {shape},
        .no_grad = {2}};
  };
  return {
      .cases = {three("latents", {3, 16}), three("batch_of_1", {1, 5}), three("scalar", {}),
                three("empty", {0, 4})},
      .rejects =
          {{"shapes", {{.shape = {3}}, {.shape = {4}}, {.shape = {3}}}, {}, "tensors of one shape"},
           {"integers",
            {{.shape = {3}}, {.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
            {},
            "must be floating"}},
  };
}

TEST(reparametrize, draws_in_training_and_is_the_mean_at_inference) {
  Graph g;
  const Value mean = g.input("mean", {16});
  g.output("z", reparametrize(mean, g.input("logvar", {16}), {.name = "latent"}));
  const auto settled = [&](ir::Phase phase) {
    return passes::remove_dead_code(passes::specialize(g.ir(), phase));
  };
  const ir::Graph training = settled(ir::Phase::training);
  ASSERT_EQ(training.nodes.size(), 2U);
  EXPECT_TRUE(training.nodes[0].op->flow.reads_rng);
  EXPECT_EQ(training.layers[static_cast<size_t>(training.nodes[1].layer)].name, "latent");
  const ir::Graph inference = settled(ir::Phase::inference);
  EXPECT_TRUE(inference.nodes.empty());
  EXPECT_EQ(inference.data(inference.outputs[0].second).name, "mean");
}

}  // namespace thimble::test::reparametrize_test
