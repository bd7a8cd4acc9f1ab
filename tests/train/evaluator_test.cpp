// Evaluation without a trainer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/evaluator.h>
#include <thimble/model_file.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/small_models.h"

namespace thimble::evaluator_test {
namespace {

using test::error_of;
using test::TemporaryFolder;
using testing::HasSubstr;

// Recipes with dropout, with noise and with running statistics among them; the last batch is
// smaller.
TEST(evaluator, gives_the_bits_of_a_trainer) {
  const TemporaryFolder folder;
  const std::string file = folder / "checkpoint";
  for (const char* const name : {"lenet5", "vae"}) {
    const Recipe& recipe = find_recipe(name);
    Trainer trainer(recipe.build(), {.optimizer = recipe.optimizer(), .batch = 16, .seed = 4});
    trainer.fit(data::digits(32, 1), {.epochs = 1});
    trainer.save(file);
    const data::Dataset samples = data::digits(37, 2, data::Split::test);
    const Evaluation wanted = trainer.evaluate(samples);
    Evaluator evaluator(recipe.build(), {.weights = file, .batch = 16});
    const Evaluation got = evaluator.evaluate(samples);
    EXPECT_EQ(got.loss, wanted.loss) << name;
    EXPECT_EQ(got.metrics, wanted.metrics) << name;
    EXPECT_EQ(got.samples, 37);
    EXPECT_LT(evaluator.plan().planned_peak_bytes, trainer.plan().planned_peak_bytes) << name;
  }
}

TEST(evaluator, collects_outputs_that_are_named) {
  Graph g;
  const Value x = g.input("x", {3});
  const Value kind = g.label("kind");
  const Value factor = g.parameter("factor", {3}, init::constant(2.0));
  g.freeze("factor");
  g.minimize(softmax_cross_entropy(x * factor, kind));
  g.output("positive", cast(gt(x, x - x), DType::boolean));
  g.output("kind", kind);
  g.output("largest", max(x));  // of a whole batch: nobody asks for it
  const data::Dataset samples = data::in_memory(
      {{"x", {3}}, {"kind", {}, DType::i32, true}},
      {std::vector<float>{1, -1, 2, -3, -4, 5, 6, 7, -8}, std::vector<int32_t>{2, 0, 1}});
  const TemporaryFolder folder;
  save_model(g, folder / "model");
  Evaluator evaluator(load_model(folder / "model"), {.batch = 2, .outputs = {"kind", "positive"}});
  std::map<std::string, Array> outputs{{"kind", {}}};
  EXPECT_EQ(evaluator.evaluate(samples, &outputs).samples, 3);
  EXPECT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs.at("kind"), Array(std::vector<int32_t>{2, 0, 1}));
  EXPECT_EQ(outputs.at("positive").cast(DType::u8),
            Array(std::vector<uint8_t>{1, 0, 1, 0, 0, 1, 1, 1, 0}, {3, 3}));
  EXPECT_THAT(error_of([&] { Evaluator(load_model(folder / "model"), {.outputs = {"largest"}}); }),
              HasSubstr("must have the batch, N"));
  EXPECT_THAT(error_of([&] { Evaluator(load_model(folder / "model"), {.outputs = {"none"}}); }),
              HasSubstr("the graph has no output \"none\""));
}

TEST(evaluator, says_what_is_missing) {
  EXPECT_THAT(error_of([] { Evaluator(test::small_network(), {.batch = 2}); }),
              HasSubstr("the graph has no values for it"));
  EXPECT_THAT(error_of([] { Evaluator(test::small_network(), {.batch = 0}); }),
              HasSubstr("[batch] expected 1 or more, got 0"));
  Graph g;
  g.output("y", relu(g.input("x", {3})));
  EXPECT_THAT(error_of([&] { Evaluator{g}; }), HasSubstr("[evaluate] the graph has no loss"));
}

}  // namespace
}  // namespace thimble::evaluator_test
