// Recipes that classify colour images: their layers, their memory, and that they learn.
#include <gmock/gmock.h>
#include <thimble/thimble.h>

#include <set>

#include "data/test_files.h"

namespace thimble::image_recipes_test {
namespace {

using ::testing::HasSubstr;

Trainer trainer_of(const Recipe& recipe, int64_t batch) {
  return {recipe.build(), {.optimizer = recipe.optimizer(), .batch = batch, .threads = 2}};
}

struct Expected {
  const char* name;
  int64_t parameters;                // those of torchvision's model with ten classes
  std::vector<std::string> tensors;  // some of its names
  Shape image;
  int64_t most_bytes;    // bound of a step with the recipe's batch, less than PyTorch needs
  int lone_activations;  // of a step
};

const Expected kExpected[] = {
    {"mobilenetv2",
     408938,
     {"features.0.0.weight", "features.1.conv.0.1.running_mean", "features.1.conv.1.weight",
      "features.2.conv.1.0.weight", "features.17.conv.3.bias", "features.18.1.running_var",
      "classifier.1.weight", "classifier.1.bias"},
     {96, 96, 3},
     int64_t{45} << 20,
     0},
    {"resnet18",
     11173962,
     {"conv1.weight", "bn1.running_mean", "layer1.1.bn2.weight", "layer2.0.downsample.0.weight",
      "layer4.0.downsample.1.running_var", "fc.weight", "fc.bias"},
     {32, 32, 3},
     int64_t{240} << 20,
     8}};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.name; }

class ImageRecipes : public testing::TestWithParam<Expected> {};

TEST_P(ImageRecipes, have_the_parameters_and_names_of_torchvision) {
  const Expected& expected = GetParam();
  const Recipe& recipe = find_recipe(expected.name);
  const Graph graph = recipe.build();
  EXPECT_THAT(graph.summary(), HasSubstr(std::to_string(expected.parameters) + " parameters"));
  const Trainer trainer = trainer_of(recipe, 2);
  for (const std::string& name : expected.tensors) EXPECT_NO_THROW((void)trainer.parameter(name));
}

TEST_P(ImageRecipes, are_packed_tightly_into_less_than_PyTorch_takes) {
  const Recipe& recipe = find_recipe(GetParam().name);
  const Plan plan = trainer_of(recipe, recipe.batch).plan();
  EXPECT_LE(plan.planned_peak_bytes, GetParam().most_bytes);
  EXPECT_LE(static_cast<double>(plan.planned_peak_bytes),
            1.01 * static_cast<double>(plan.lower_bound_bytes));
}

TEST_P(ImageRecipes, have_two_splits_of_ten_classes) {
  const Recipe& recipe = find_recipe(GetParam().name);
  const data::Dataset train = recipe.data("", data::Split::train);
  const data::Dataset test = recipe.data("", data::Split::test);
  ASSERT_EQ(train.fields(), test.fields());
  EXPECT_EQ(train.fields()[0].shape, GetParam().image);
  EXPECT_GE(train.size(), 1000);
  EXPECT_NE(data::testing::sample_of(train, 0).features,
            data::testing::sample_of(test, 0).features);
}

TEST_P(ImageRecipes, read_cifar10) {
  const data::testing::ScratchFolder folder;
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"}) {
    folder.write(name, std::string(1, '\x07') + std::string(3072, '\xff'));
  }
  const Recipe& recipe = find_recipe(GetParam().name);
  const data::Dataset train = recipe.data(folder.path(), data::Split::train);
  EXPECT_EQ(train.size(), 5);
  EXPECT_EQ(train.fields()[0].shape, GetParam().image);
  EXPECT_EQ(data::testing::sample_of(train, 0).label, 7);
  EXPECT_EQ(data::testing::sample_of(train, 0).features[0], 1.0F);
  EXPECT_EQ(recipe.data(folder.path(), data::Split::test).size(), 1);
}

// Activations need no pass over memory of their own.
TEST_P(ImageRecipes, let_other_ops_apply_their_activations) {
  const Recipe& recipe = find_recipe(GetParam().name);
  std::set<std::string> left;  // resnet18: after each block's sum; some are recomputed
  for (const PlanStep& step : trainer_of(recipe, 2).plan().steps) {
    if (step.op == "relu" || step.op == "relu6") left.insert(step.layer);
  }
  EXPECT_EQ(static_cast<int>(left.size()), GetParam().lone_activations);
}

// Memorizes a few images, so every layer must pass gradients on.
TEST_P(ImageRecipes, learn_a_few_images_in_seconds) {
  const Recipe& recipe = find_recipe(GetParam().name);
  const data::Dataset few = recipe.data("", data::Split::test).take(8);
  Trainer trainer(recipe.build(), {.optimizer = Adam{.lr = 1e-3}, .batch = 8, .threads = 2});
  const FitResult result = trainer.fit(few, {.epochs = 12});
  EXPECT_GT(result.epochs.front().train.loss, 2.0);
  EXPECT_LT(result.epochs.back().train.loss, 0.7);
}

INSTANTIATE_TEST_SUITE_P(Models, ImageRecipes, testing::ValuesIn(kExpected),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace thimble::image_recipes_test
