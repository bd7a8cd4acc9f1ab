// Layers whose results are random, or that are not compared with PyTorch.
#include <gtest/gtest.h>
#include <model.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "ml_train/generator.h"

namespace thimble::test::ml_train_test {
namespace {

using ml::train::createLayer;
using ml::train::createModel;
using ml::train::createOptimizer;
using ml::train::ModelType;

struct Network {
  std::unique_ptr<ml::train::Model> model;
  Samples samples;
  std::vector<float> losses;

  explicit Network(const std::vector<std::string>& properties)
      : model(createModel(ModelType::NEURAL_NET, properties)) {}
  void add(const std::string& type, const std::vector<std::string>& properties) const {
    model->addLayer(createLayer(type, properties));
  }
  void initialize(const std::string& optimizer, const std::vector<std::string>& properties) const {
    model->setOptimizer(createOptimizer(optimizer, properties));
    ASSERT_EQ(model->compile(), 0);
    ASSERT_EQ(model->initialize(), 0);
  }
  void train(const std::vector<std::string>& properties) {
    model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(samples));
    testing::internal::CaptureStdout();
    ASSERT_EQ(model->train(
                  properties, [](void*) { return false; }, nullptr,
                  [](void* data) {
                    auto* self = static_cast<Network*>(data);
                    self->losses.push_back(self->model->getTrainingLoss());
                  },
                  this),
              0);
    static_cast<void>(testing::internal::GetCapturedStdout());
  }
};

// The derivative by every output is 1: weights fall by the learning rate times the inputs' sums.
TEST(ml_train_layer, constant_derivative_is_one) {
  Network net({"batch_size=2", "threads=1"});
  net.add("input", {"input_shape=1:1:2"});
  net.add("fully_connected", {"name=fc", "unit=1", "weight_initializer=zeros"});
  net.add("constant_derivative", {});
  net.initialize("sgd", {"learning_rate=0.5"});
  net.samples = {.inputs = {{1, 2, 3, 4}}, .labels = {}, .count = 2};
  net.train({});
  std::shared_ptr<ml::train::Layer> fc;
  net.model->getLayer("fc", &fc);
  EXPECT_FLOAT_EQ(fc->getWeights()[0][0], -2.0F);
  EXPECT_FLOAT_EQ(fc->getWeights()[0][1], -3.0F);
  EXPECT_FLOAT_EQ(fc->getWeights()[1][0], -1.0F);
}

TEST(ml_train_layer, preprocess_flip_leaves_images_at_inference_and_mirrors_half_in_training) {
  Network net({"batch_size=32", "threads=1"});
  net.add("input", {"input_shape=1:1:2"});
  net.add("preprocess_flip", {"flip_direction=horizontal"});
  net.add("fully_connected", {"name=fc", "unit=1", "weight_initializer=zeros"});
  net.add("constant_derivative", {});
  net.initialize("sgd", {"learning_rate=1"});
  net.samples = {.inputs = {std::vector<float>(64, 0.0F)}, .labels = {}, .count = 32};
  for (size_t i = 0; i < 64; i += 2) net.samples.inputs[0][i] = 1.0F;
  net.train({});
  std::shared_ptr<ml::train::Layer> fc;
  net.model->getLayer("fc", &fc);
  const float left = -fc->getWeights()[0][0];
  const float right = -fc->getWeights()[0][1];
  EXPECT_EQ(left + right, 32.0F);
  EXPECT_GT(left, 4.0F);
  EXPECT_GT(right, 4.0F);
  std::vector<float> x{1.0F, 0.0F};
  EXPECT_FLOAT_EQ(net.model->inference(1, {x.data()})[0][0],
                  fc->getWeights()[0][0] + fc->getWeights()[1][0]);
}

// A ramp that moves by t pixels is the ramp plus t, where it does not come from outside.
TEST(ml_train_layer, preprocess_translate_moves_images_in_training) {
  Network net({"batch_size=1", "threads=1"});
  net.add("input", {"input_shape=2:1:8"});
  net.add("preprocess_translate", {"random_translate=0.25"});
  net.add("flatten", {});
  net.add("fully_connected", {"name=fc", "unit=1", "weight_initializer=zeros"});
  net.add("constant_derivative", {});
  net.initialize("sgd", {"learning_rate=1"});
  net.samples = {.inputs = {std::vector<float>(16)}, .labels = {}, .count = 1};
  std::iota(net.samples.inputs[0].begin(), net.samples.inputs[0].end(), 0.0F);
  std::shared_ptr<ml::train::Layer> fc;
  net.model->getLayer("fc", &fc);
  std::vector<float> before(16, 0.0F);
  float least = 1.0F;
  float most = -1.0F;
  for (int step = 1; step <= 20; ++step) {
    net.train({"continue_train=true", "epochs=" + std::to_string(step)});
    std::vector<float> moves(16);
    for (size_t i = 0; i < 16; ++i) {
      moves[i] = before[i] - fc->getWeights()[0][i] - static_cast<float>(i);
      before[i] = fc->getWeights()[0][i];
    }
    for (const size_t i : {2, 3, 4, 5, 10, 13}) EXPECT_NEAR(moves[i], moves[2], 1e-3) << i;
    least = std::min(least, moves[2]);
    most = std::max(most, moves[2]);
  }
  EXPECT_LT(least, -0.5F);
  EXPECT_GT(most, 0.5F);
  EXPECT_GE(least, -2.001F);
  EXPECT_LE(most, 2.001F);
  std::vector<float> x(16, 0.0F);
  x[3] = 1.0F;
  EXPECT_FLOAT_EQ(net.model->inference(1, {x.data()})[0][0],
                  fc->getWeights()[0][3] + fc->getWeights()[1][0]);
}

// Means and distances by hand: a frozen layer doubles the inputs.
TEST(ml_train_layer, centroid_knn_learns_means_of_classes) {
  Network net({"batch_size=2", "threads=1"});
  net.add("input", {"input_shape=1:1:2"});
  net.add("fully_connected", {"name=double", "unit=2", "trainable=false"});
  net.add("centroid_knn", {"name=knn", "num_class=3"});
  net.initialize("sgd", {});
  std::shared_ptr<ml::train::Layer> layer;
  net.model->getLayer("double", &layer);
  const std::vector<float> twice{2, 0, 0, 2};
  std::copy(twice.begin(), twice.end(), layer->getWeights()[0]);
  net.samples = {
      .inputs = {{1, 2, 3, 4, 0, 0}}, .labels = {{0, 1, 0, 0, 1, 0, 0, 0, 1}}, .count = 3};
  Samples valid{.inputs = {{2, 3, 1, 0}}, .labels = {{0, 1, 0, 0, 1, 0}}, .count = 2};
  net.model->setDataset(ml::train::DatasetModeType::MODE_VALID, dataset_of(valid));
  net.train({});
  EXPECT_EQ(net.model->getTrainingLoss(), 0.0F);
  EXPECT_EQ(net.model->getValidStats().accuracy, 50.0F);
  net.model->getLayer("knn", &layer);
  EXPECT_EQ(layer->getWeightName(0), "knn:map");
  EXPECT_EQ(layer->getWeightName(1), "knn:num_samples");
  const std::vector<float*> weights = layer->getWeights();
  EXPECT_EQ(std::vector<float>(weights[0], weights[0] + 6), (std::vector<float>{0, 0, 4, 6, 0, 0}));
  EXPECT_EQ(std::vector<float>(weights[1], weights[1] + 3), (std::vector<float>{0, 2, 1}));
  std::vector<float> x{2, 1.5F};
  const float* y = net.model->inference(1, {x.data()})[0];
  EXPECT_TRUE(std::isinf(y[0]) && y[0] < 0.0F);  // no samples
  EXPECT_FLOAT_EQ(y[1], -3.0F);
  EXPECT_FLOAT_EQ(y[2], -5.0F);
  // Further samples go on from there.
  net.samples = {.inputs = {{7, 0}}, .labels = {{0, 0, 1}}, .count = 1};
  net.train({});
  EXPECT_EQ(weights[0][4], 7.0F);
  EXPECT_EQ(weights[1][2], 2.0F);
}

TEST(ml_train_layer, centroid_knn_has_no_derivatives) {
  Network net({"batch_size=1"});
  net.add("input", {"input_shape=1:1:2"});
  net.add("fully_connected", {"name=fc", "unit=2"});
  net.add("centroid_knn", {"num_class=3"});
  net.initialize("sgd", {});
  net.samples = {.inputs = {{1, 2}}, .labels = {{0, 1, 0}}, .count = 1};
  net.model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(net.samples));
  EXPECT_NE(message_of([&] { net.model->train(); }).find("set trainable=false"), std::string::npos);
}

// The custom layers of the VAE: a normal distribution's sample, and both parts of the loss.
TEST(ml_train_layer, a_variational_autoencoder_learns) {
  Network net({"batch_size=8", "threads=1"});
  net.add("input", {"name=in", "input_shape=1:4:4"});
  net.add("flatten", {"name=flat"});
  net.add("fully_connected", {"name=h", "unit=16", "activation=relu", "input_layers=flat"});
  net.add("fully_connected", {"name=mu", "unit=2", "input_layers=h"});
  net.add("fully_connected", {"name=logvar", "unit=2", "input_layers=h"});
  net.add("bottleneck", {"name=z", "input_layers=mu,logvar"});
  net.add("fully_connected", {"name=d", "unit=16", "activation=relu", "input_layers=z"});
  net.add("fully_connected", {"name=recon", "unit=16", "input_layers=d"});
  net.add("vae_loss", {"input_layers=recon,mu,logvar"});
  net.initialize("adam", {"learning_rate=0.01"});
  net.samples.count = 16;
  net.samples.inputs = {std::vector<float>(256, 0.0F)};
  for (size_t i = 0; i < 256; ++i)
    net.samples.inputs[0][i] = (i / 16 % 2 == 0) == (i % 4 < 2) ? 1.0F : 0.0F;
  net.samples.labels = net.samples.inputs;
  net.train({"epochs=80"});
  EXPECT_LT(net.losses.back(), 0.6F * net.losses.front());
  const float* y = net.model->inference(1, {net.samples.inputs[0].data()})[0];
  for (size_t i = 0; i < 16; ++i) EXPECT_TRUE(y[i] >= 0.0F && y[i] <= 1.0F);
}

// A dropped state is 0 for the next step, too. With a state h of one number, h2 = 2 tanh(b + w h1),
// where h1 is 0 or 2 tanh(b), or 0.
TEST(ml_train_layer, recurrent_dropout_drops_states_for_the_next_step) {
  Network net({"batch_size=1", "threads=1"});
  net.add("input", {"input_shape=1:2:1"});
  net.add("rnn",
          {"name=cell", "unit=1", "dropout_rate=0.5", "trainable=false", "integrate_bias=true"});
  net.add("fully_connected", {"name=fc", "unit=1", "weight_initializer=zeros"});
  net.add("constant_derivative", {});
  net.initialize("sgd", {"learning_rate=1"});
  std::shared_ptr<ml::train::Layer> cell;
  net.model->getLayer("cell", &cell);
  cell->getWeights()[0][0] = 0.0F;
  cell->getWeights()[1][0] = 0.7F;
  cell->getWeights()[2][0] = 0.3F;
  net.samples = {.inputs = {{1.0F, 1.0F}}, .labels = {}, .count = 1};
  const float b = std::tanh(0.3F);
  std::vector<float> kinds{0.0F, 2 * b, 2 * std::tanh(0.3F + 1.4F * b)};
  std::vector<int> seen(3, 0);
  float before = 0.0F;
  std::shared_ptr<ml::train::Layer> fc;
  net.model->getLayer("fc", &fc);
  for (int step = 1; step <= 40; ++step) {
    net.train({"continue_train=true", "epochs=" + std::to_string(step)});
    const float h = before - fc->getWeights()[0][0];
    before = fc->getWeights()[0][0];
    const auto near = [&](float kind) { return std::abs(h - kind) < 1e-4F; };
    const auto found = std::find_if(kinds.begin(), kinds.end(), near);
    ASSERT_NE(found, kinds.end()) << h;
    ++seen[static_cast<size_t>(found - kinds.begin())];
  }
  for (const int count : seen) EXPECT_GT(count, 2);
  std::vector<float> x{1.0F, 1.0F};
  EXPECT_NEAR(net.model->inference(1, {x.data()})[0][0],
              fc->getWeights()[0][0] * std::tanh(0.3F + 0.7F * b) + fc->getWeights()[1][0], 1e-4);
}

TEST(ml_train_layer, dropout_scales_what_it_leaves) {
  Network net({"batch_size=64", "threads=1"});
  net.add("input", {"input_shape=1:1:1"});
  net.add("dropout", {"dropout_rate=0.5"});
  net.add("fully_connected", {"name=fc", "unit=1", "weight_initializer=zeros"});
  net.add("constant_derivative", {});
  net.initialize("sgd", {"learning_rate=1"});
  net.samples = {.inputs = {std::vector<float>(64, 1.0F)}, .labels = {}, .count = 64};
  net.train({});
  std::shared_ptr<ml::train::Layer> fc;
  net.model->getLayer("fc", &fc);
  const float sum = -fc->getWeights()[0][0];
  EXPECT_EQ(std::fmod(sum, 2.0F), 0.0F);
  EXPECT_NEAR(sum, 64.0F, 30.0F);
}

}  // namespace
}  // namespace thimble::test::ml_train_test
