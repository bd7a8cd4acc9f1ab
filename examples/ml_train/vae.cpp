// A variational autoencoder of handwritten digits by NNTrainer's interface: prints the table of
// layers and the training log, writes digits above their reconstructions and new digits as a
// picture, and judges new digits by their inception score.
// usage: vae [PICTURE.pgm] [EPOCHS]
#include <model.h>
#include <util_func.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "samples.h"

using ml::train::createLayer;
using nntrainer::withKey;

namespace {

constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr int kShown = 10;
constexpr int kCode = 8;
constexpr int kJudged = 500;

std::shared_ptr<ml::train::Dataset> dataset_of(Digits& digits) {
  return ml::train::createDataset(ml::train::DatasetType::GENERATOR, &Digits::read, &digits);
}

std::shared_ptr<ml::train::Layer> down(const char* name, int filters) {
  return createLayer(
      "conv2d", {withKey("name", name), withKey("filters", filters), withKey("kernel_size", {4, 4}),
                 withKey("stride", {2, 2}), "padding=1", "activation=relu"});
}

std::shared_ptr<ml::train::Layer> up(const char* name, int filters) {
  return createLayer("conv2dtranspose",
                     {withKey("name", name), withKey("filters", filters),
                      withKey("kernel_size", {4, 4}), withKey("stride", {2, 2}), "padding=1"});
}

// From a code to logits of pixels.
void add_decoder(ml::train::Model& model) {
  model.addLayer(createLayer("fully_connected", {"name=wide", "unit=784", "activation=relu"}));
  model.addLayer(createLayer("reshape", {"name=planes", "target_shape=16:7:7"}));
  model.addLayer(up("up1", 8));
  model.addLayer(createLayer("batch_normalization", {"name=norm1", "activation=relu"}));
  model.addLayer(up("up2", 1));
}

void add_layers(ml::train::Model& model) {
  model.addLayer(createLayer("input", {"name=image", "input_shape=1:28:28"}));
  model.addLayer(down("down1", 8));
  model.addLayer(down("down2", 16));
  model.addLayer(createLayer("flatten", {"name=features"}));
  for (const char* name : {"mean", "logvar"}) {
    model.addLayer(
        createLayer("fully_connected", {withKey("name", name), "unit=8", "input_layers=features"}));
  }
  model.addLayer(createLayer("bottleneck", {"name=code", "input_layers=mean,logvar"}));
  add_decoder(model);
  model.addLayer(createLayer("vae_loss", {"name=loss", "input_layers=up2,mean,logvar"}));
}

// New digits: the decoder of codes that are drawn from the normal distribution, in a model of its
// own with the weights of the trained one.
std::vector<float> drawn_digits(ml::train::Model& trained, int count) {
  auto model = ml::train::createModel();
  model->addLayer(createLayer("input", {"name=code", "input_shape=1:1:8"}));
  add_decoder(*model);
  model->addLayer(createLayer("activation", {"activation=sigmoid"}));
  model->compile(ml::train::ExecutionMode::INFERENCE);
  model->initialize(ml::train::ExecutionMode::INFERENCE);
  for (const char* name : {"wide", "up1", "norm1", "up2"}) {
    std::shared_ptr<ml::train::Layer> from;
    std::shared_ptr<ml::train::Layer> to;
    trained.getLayer(name, &from);
    model->getLayer(name, &to);
    to->setWeights(from->getWeights());
  }
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> codes(static_cast<size_t>(count * kCode));
  for (float& number : codes) number = normal(random);
  const float* const images = model->inference(static_cast<unsigned int>(count), {codes.data()})[0];
  return {images, images + count * kPixels};
}

// A model of the probabilities of the ten digits.
std::unique_ptr<ml::train::Model> trained_classifier(int count) {
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET,
                                      {"loss=cross", "batch_size=32", "epochs=3"});
  model->addLayer(createLayer("input", {"name=image", "input_shape=1:28:28"}));
  model->addLayer(down("down1", 8));
  model->addLayer(down("down2", 16));
  model->addLayer(createLayer("flatten", {"name=features"}));
  model->addLayer(createLayer("fully_connected", {"unit=10", "activation=softmax"}));
  model->setOptimizer(ml::train::createOptimizer("adam", {"learning_rate=0.003"}));
  model->compile();
  model->initialize();
  Digits train(count, thimble::data::Split::train, Digits::Label::one_hot);
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(train));
  model->train();
  return model;
}

// exp of the mean over images of KL(classes of the image, classes of all): 1 for images of one kind
// or of none, up to 10. Source: Salimans et al., 2016.
double inception_score(ml::train::Model& classifier, std::vector<float> images) {
  const size_t count = images.size() / kPixels;
  const float* const p = classifier.inference(static_cast<unsigned int>(count), {images.data()})[0];
  std::array<double, 10> all{};
  for (size_t i = 0; i < 10 * count; ++i) all[i % 10] += p[i] / static_cast<double>(count);
  double sum = 0.0;
  for (size_t i = 0; i < 10 * count; ++i)
    if (p[i] > 0.0F) sum += p[i] * std::log(p[i] / all[i % 10]);
  return std::exp(sum / static_cast<double>(count));
}

// Ten images of each row side by side.
void write_picture(const std::string& path, const std::vector<const float*>& rows) {
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << kShown * kSide << " " << rows.size() * kSide << "\n255\n";
  for (const float* row : rows) {
    for (int y = 0; y < kSide; ++y) {
      for (int x = 0; x < kShown * kSide; ++x) {
        const float value = row[x / kSide * kPixels + y * kSide + x % kSide];
        file.put(static_cast<char>(std::clamp(value, 0.0F, 1.0F) * 255.0F));
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string picture = argc > 1 ? argv[1] : "vae.pgm";
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET,
                                      {withKey("batch_size", 64), "memory_budget=3MiB"});
  add_layers(*model);
  model->setOptimizer(ml::train::createOptimizer("adam", {"learning_rate=0.002"}));
  if (model->compile() != 0 || model->initialize() != 0) return EXIT_FAILURE;
  model->summarize(std::cout, ML_TRAIN_SUMMARY_MODEL);

  Digits train(4096, thimble::data::Split::train, Digits::Label::image);
  Digits test(640, thimble::data::Split::test, Digits::Label::image);
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(train));
  model->setDataset(ml::train::DatasetModeType::MODE_VALID, dataset_of(test));
  if (model->train({withKey("epochs", argc > 2 ? argv[2] : "10")}) != 0) return EXIT_FAILURE;

  std::vector<float> shown;
  for (int i = 0; i < kShown; ++i) {
    const std::vector<float> image = test.image(i);
    shown.insert(shown.end(), image.begin(), image.end());
  }
  const std::vector<float*> outputs = model->inference(kShown, {shown.data()});
  const std::vector<float> drawn = drawn_digits(*model, kJudged);
  write_picture(picture, {shown.data(), outputs[0], drawn.data()});
  std::cout << "written: " << picture << "\n";

  const auto classifier = trained_classifier(2048);
  std::vector<float> real;
  for (int i = 0; i < kJudged; ++i) {
    const std::vector<float> image = test.image(i);
    real.insert(real.end(), image.begin(), image.end());
  }
  std::cout << "inception score of " << kJudged
            << " new digits: " << inception_score(*classifier, drawn)
            << ", of real ones: " << inception_score(*classifier, real) << "\n";
}
