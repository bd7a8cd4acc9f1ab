#include <cmath>

#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/dropout/attrs.h"
#include "passes/passes.h"

namespace thimble::test::dropout_test {
namespace {

const TensorSpec kRng{.shape = {6}, .dtype = DType::u32, .low = 0, .high = 4294967295.0};

OpCase drop(const char* name, const Shape& shape, double p) {
  return {.name = name,
          .inputs = {kRng, {.shape = shape}},
          .attrs = ir::Attrs::of(DropoutAttrs{p, 3}),
          .expect = {shape},
          .tolerance = 1e-7};
}

}  // namespace

THIMBLE_OP_CASES(dropout) {
  const auto attrs = [](double p) { return ir::Attrs::of(DropoutAttrs{p, 0}); };
  return {
      .cases = {drop("half", {3, 7}, 0.5), drop("none", {3, 5}, 0.0), drop("all", {3, 5}, 1.0),
                drop("scalar", {}, 0.1), drop("empty", {0, 3}, 0.5), drop("one_row", {1, 257}, 0.2),
                drop("many", {3, 7001}, 0.9)},
      .rejects = {{"negative", {kRng, {.shape = {2}}}, attrs(-0.1), "between 0 and 1"},
                  {"above_1", {kRng, {.shape = {2}}}, attrs(1.5), "between 0 and 1"},
                  {"nan", {kRng, {.shape = {2}}}, attrs(NAN), "between 0 and 1"},
                  {"integers",
                   {kRng, {.shape = {2}, .dtype = DType::i32}},
                   attrs(0.5),
                   "must be floating"}},
  };
}

TEST(dropout, gives_the_same_bits_from_both_kernels) {
  const Tensor rng = tensor<uint32_t>(DType::u32, {6}, {1, 2, 3, 4, 0, 0});
  std::vector<float> numbers(1027);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) * 0.37F - 9.0F;
  const Tensor x = tensor({1027}, numbers);
  const auto attrs = ir::Attrs::of(DropoutAttrs{0.3, 5});
  EXPECT_EQ(run_op("dropout", attrs, {rng, x}, Kernel::fast),
            run_op("dropout", attrs, {rng, x}, Kernel::reference));
}

TEST(dropout, drops_its_share_and_scales_the_rest) {
  Graph g;
  const Value x = g.constant("x", {100000}, std::vector<float>(100000, 3.0F));
  const auto y = evaluate(dropout(x, {.p = 0.2}), std::vector<uint32_t>{7, 0, 1, 0});
  const auto dropped = std::count(y.begin(), y.end(), 0.0F);
  EXPECT_EQ(std::count(y.begin(), y.end(), 3.75F) + dropped, 100000);
  // Five standard deviations.
  EXPECT_NEAR(static_cast<double>(dropped), 20000.0, 5.0 * std::sqrt(1e5 * 0.2 * 0.8));
}

TEST(dropout, drops_what_is_not_finite) {
  Graph g;
  const Value x = g.constant("x", {2}, {INFINITY, NAN});
  EXPECT_EQ(evaluate(dropout(x, {.p = 1.0}), std::vector<uint32_t>{7, 0, 1, 0}),
            (std::vector<float>{0.0F, 0.0F}));
}

TEST(dropout, vanishes_at_inference) {
  Graph g;
  const Value x = g.input("x", {3});
  g.output("y", dropout(x));
  const ir::Graph training = passes::specialize(g.ir(), ir::Phase::training);
  const ir::Graph inference = passes::specialize(g.ir(), ir::Phase::inference);
  EXPECT_EQ(training.nodes.size(), 1U);
  EXPECT_TRUE(inference.nodes.empty());
  EXPECT_EQ(inference.data(inference.outputs[0].second).name, "x");
}

}  // namespace thimble::test::dropout_test
