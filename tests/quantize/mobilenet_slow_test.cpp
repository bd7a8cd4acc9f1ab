// A trained MobileNetV2 on int8: batch norms, depthwise convolutions, residuals, relu6.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "io/temporary_folder.h"

namespace thimble::test::quantize_mobilenet_test {
namespace {

TEST(quantize_recipes_slow, mobilenetv2_loses_about_a_point) {
  const Recipe& recipe = find_recipe("mobilenetv2");
  const data::Dataset samples = data::shapes(1600, 1, data::Split::train, 96);
  const data::Dataset test = data::shapes(400, 2, data::Split::test, 96);
  Trainer trainer(recipe.build(),
                  {.optimizer = recipe.optimizer(), .batch = 16, .seed = 1, .threads = 2});
  trainer.fit(samples, {.epochs = 8});
  const TemporaryFolder folder;
  trainer.save_model(folder / "m.safetensors");
  const Graph f32 = load_model(folder / "m.safetensors");
  const auto accuracy_of = [&](const Graph& graph) {
    return Evaluator(graph, {.threads = 2}).evaluate(test).metrics.at("accuracy");
  };
  const double wanted = accuracy_of(f32);
  ASSERT_GT(wanted, 0.4);  // far above chance
  const QuantizedModel made =
      quantize_model(f32, samples, {.calibration = Calibration::mse, .samples = 64, .threads = 2});
  EXPECT_TRUE(made.float_layers.empty());
  for (const QuantizedLayer& layer : made.layers) EXPECT_GT(layer.sqnr_db, 8.0) << layer.name;
  EXPECT_NEAR(accuracy_of(made.graph), wanted, 0.02);
}

}  // namespace
}  // namespace thimble::test::quantize_mobilenet_test
