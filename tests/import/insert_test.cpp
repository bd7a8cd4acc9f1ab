// Models as parts of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/insert.h>
#include <thimble/thimble.h>

#include "io/temporary_folder.h"

namespace thimble::test::insert_test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// Two results for 4 numbers, with a batch norm, dropout, a label and a loss.
Graph classifier() {
  Graph g;
  const Value h =
      batch_norm(dense(g.input("x", {4}), {.units = 3, .name = "body"}), {.name = "norm"});
  const Value y = dense(dropout(tanh(h), {.p = 0.5}), {.units = 2, .name = "head"});
  g.output("scores", y);
  g.minimize(softmax_cross_entropy(y, g.label("class")));
  return g;
}

Graph trained_classifier(const TemporaryFolder& folder) {
  save_model(classifier(), folder / "m", 3);
  return load_model(folder / "m");
}

// A model that doubles its input for the classifier.
Graph doubling(const Graph& model) {
  Graph g;
  const Value scale = g.parameter("scale", {1}, init::constant(2.0));
  g.output("y", insert_model(g, model, {mul(g.input("x", {4}), scale)}, "inner")[0].second);
  return g;
}

TEST(insert_model, computes_what_the_model_does_at_inference) {
  const TemporaryFolder folder;
  const Graph model = trained_classifier(folder);
  ASSERT_EQ(model_inputs(model).size(), 1U);
  EXPECT_EQ(model_inputs(model)[0].name, "x");
  EXPECT_EQ(model_inputs(model)[0].sample, Shape{4});
  Graph g = doubling(model);
  set_weights(g, {{"scale", Array{2.0F}}});
  const Array x(std::vector<float>{0.1F, -0.2F, 0.3F, 0.5F});
  const Array twice(std::vector<float>{0.2F, -0.4F, 0.6F, 1.0F});
  Predictor whole(g);
  Predictor alone(model);
  EXPECT_EQ(whole.run({{"x", x}}).at("y").floats(),
            alone.run({{"x", twice}}).at("scores").floats());
}

TEST(insert_model, is_not_trained_and_hands_derivatives_on) {
  const TemporaryFolder folder;
  Graph g;
  const Value shift = g.parameter("shift", {4}, init::zeros());
  const Value x = add(g.input("x", {4}), shift);
  const Value y = insert_model(g, trained_classifier(folder), {x}, "inner")[0].second;
  g.minimize(mse(y, g.label("t", {2}, DType::f32)));
  Trainer trainer(g, {.optimizer = SGD{.lr = 0.5}, .batch = 2});
  EXPECT_EQ(trainer.plan().parameters, 4);
  const data::Dataset samples =
      data::in_memory({{"x", {4}}, {.name = "t", .shape = {2}, .is_label = true}},
                      {Array(std::vector<float>{1, 2, 3, 4, 0, 1, 0, 1}),
                       Array(std::vector<float>{0.2F, 0, 0.2F, 0})});
  const double before = trainer.evaluate(samples).loss;
  trainer.fit(samples, {.epochs = 20});
  EXPECT_LT(trainer.evaluate(samples).loss, before);
}

TEST(insert_model, says_what_does_not_fit) {
  const TemporaryFolder folder;
  const Graph model = trained_classifier(folder);
  Graph g;
  const Value x = g.input("x", {4});
  EXPECT_THAT([&] { insert_model(g, model, {}, "a"); },
              ThrowsMessage<Error>(HasSubstr("more inputs than 0")));
  EXPECT_THAT(
      [&] {
        insert_model(g, model, {x, x}, "a");
      },
      ThrowsMessage<Error>(HasSubstr("expected 1 inputs, got 2")));
  EXPECT_THAT(
      [&] {
        insert_model(g, model, {reshape(x, {-1, 2, 2})}, "a");
      },
      ThrowsMessage<Error>(HasSubstr("input x is f32 [N, 4], got f32 [N, 2, 2]")));
  EXPECT_THAT([&] { insert_model(g, classifier(), {x}, "a"); },
              ThrowsMessage<Error>(HasSubstr("has no values")));
  insert_model(g, model, {x}, "b");
  EXPECT_THAT([&] { insert_model(g, model, {x}, "b"); }, ThrowsMessage<Error>(HasSubstr("taken")));
}

}  // namespace
}  // namespace thimble::test::insert_test
