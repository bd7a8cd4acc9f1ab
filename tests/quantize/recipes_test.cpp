// Trained recipes on int8.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "io/temporary_folder.h"

namespace thimble::test::quantize_recipes_test {
namespace {

// Most of what int8 may lose of the accuracy, of 1.
constexpr double kPoint = 0.01;

Graph trained(const Recipe& recipe, const data::Dataset& samples, int64_t epochs, int64_t batch) {
  Trainer trainer(recipe.build(),
                  {.optimizer = recipe.optimizer(), .batch = batch, .seed = 1, .threads = 2});
  trainer.fit(samples, {.epochs = epochs});
  const TemporaryFolder folder;
  trainer.save_model(folder / "m.safetensors");
  return load_model(folder / "m.safetensors");
}

double accuracy_of(const Graph& graph, const data::Dataset& samples) {
  return Evaluator(graph, {.threads = 2}).evaluate(samples).metrics.at("accuracy");
}

TEST(quantize_recipes, lenet5_loses_less_than_a_point) {
  const data::Dataset samples = data::digits(2000, 1);
  const data::Dataset test = data::digits(1000, 2, data::Split::test);
  const Graph f32 = trained(find_recipe("lenet5"), samples, 5, 32);
  const double wanted = accuracy_of(f32, test);
  ASSERT_GT(wanted, 0.9);
  for (const Calibration calibration :
       {Calibration::minmax, Calibration::percentile, Calibration::mse}) {
    for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
      const QuantizedModel made = quantize_model(
          f32, samples, {.calibration = calibration, .samples = 128, .requantization = how});
      EXPECT_TRUE(made.float_layers.empty());
      EXPECT_EQ(made.layers.size(), 7U);  // five with weights, two pools
      EXPECT_NEAR(accuracy_of(made.graph, test), wanted, kPoint);
    }
  }
}

}  // namespace
}  // namespace thimble::test::quantize_recipes_test
