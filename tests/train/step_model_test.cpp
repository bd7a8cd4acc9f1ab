// A model that reads one symbol at a time refuses graphs that are not of its form.
#include "train/step_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <string>

namespace thimble::train::step_model_test {
namespace {

std::string error_of(const Graph& graph) {
  try {
    const StepModel model(graph, "no such file", 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(step_model, refuses_inputs_that_are_no_number) {
  Graph wrong_type;
  wrong_type.output("logits", relu(wrong_type.input("token", {1})));
  EXPECT_THAT(error_of(wrong_type),
              ::testing::HasSubstr("[token] expected an input of one i32 for each sample, [N, 1]; "
                                   "got f32"));
  Graph several;
  several.output("logits", cast(several.input("token", {2}, DType::i32), DType::f32));
  EXPECT_THAT(error_of(several), ::testing::HasSubstr("[token] expected an input of one i32"));
  Graph position;
  const Value token = cast(position.input("token", {1}, DType::i32), DType::f32);
  position.output("logits", token + position.input("position", {1}));
  EXPECT_THAT(error_of(position), ::testing::HasSubstr("[position] expected an input of one i32"));
}

TEST(step_model, refuses_graphs_without_a_token) {
  Graph graph;
  graph.output("logits", relu(graph.input("symbol", {1})));
  EXPECT_THAT(error_of(graph), ::testing::HasSubstr("[token] no output depends on an input of"));
}

}  // namespace
}  // namespace thimble::train::step_model_test
