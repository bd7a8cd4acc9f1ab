#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "passes/passes.h"

namespace thimble::test::by_phase_test {

THIMBLE_OP_CASES(by_phase) {
  return {
      .cases = {{"matrix", {{.shape = {3, 7}}, {.shape = {3, 7}}}, {}, {{3, 7}}},
                {"scalar", {{.shape = {}}, {.shape = {}}}, {}, {{}}},
                {"empty", {{.shape = {0, 2}}, {.shape = {0, 2}}}, {}, {{0, 2}}},
                {"i32",
                 {{.shape = {2}, .dtype = DType::i32}, {.shape = {2}, .dtype = DType::i32}},
                 {},
                 {{2}}}},
      .rejects = {{"shapes", {{.shape = {3}}, {.shape = {4}}}, {}, "two tensors of one type"},
                  {"types",
                   {{.shape = {3}}, {.shape = {3}, .dtype = DType::i32}},
                   {},
                   "inference must have the type of training"}},
  };
}

TEST(by_phase, becomes_the_input_of_its_phase) {
  Graph g;
  g.output("y", by_phase(g.input("in_training", {3}), g.input("at_inference", {3})));
  const auto name = [&](ir::Phase phase) {
    const ir::Graph settled = passes::specialize(g.ir(), phase);
    EXPECT_TRUE(settled.nodes.empty());
    return settled.data(settled.outputs[0].second).name;
  };
  EXPECT_EQ(name(ir::Phase::training), "in_training");
  EXPECT_EQ(name(ir::Phase::inference), "at_inference");
}

}  // namespace thimble::test::by_phase_test
