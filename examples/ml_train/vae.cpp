// A variational autoencoder of handwritten digits by NNTrainer's interface: prints the table of
// layers and the training log, and writes digits above their reconstructions as a picture.
// usage: vae [PICTURE.pgm] [EPOCHS]
#include <model.h>
#include <util_func.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "samples.h"

using ml::train::createLayer;
using nntrainer::withKey;

namespace {

constexpr int kSide = 28;
constexpr int kPixels = kSide * kSide;
constexpr int kShown = 10;

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
  model.addLayer(createLayer("fully_connected", {"name=wide", "unit=784", "activation=relu"}));
  model.addLayer(createLayer("reshape", {"name=planes", "target_shape=16:7:7"}));
  model.addLayer(up("up1", 8));
  model.addLayer(createLayer("batch_normalization", {"name=norm1", "activation=relu"}));
  model.addLayer(up("up2", 1));
  model.addLayer(createLayer("vae_loss", {"name=loss", "input_layers=up2,mean,logvar"}));
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
  const auto generator = [](Digits& digits) {
    return ml::train::createDataset(ml::train::DatasetType::GENERATOR, &Digits::read, &digits);
  };
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, generator(train));
  model->setDataset(ml::train::DatasetModeType::MODE_VALID, generator(test));
  if (model->train({withKey("epochs", argc > 2 ? argv[2] : "10")}) != 0) return EXIT_FAILURE;

  std::vector<float> shown;
  for (int i = 0; i < kShown; ++i) {
    const std::vector<float> image = test.image(i);
    shown.insert(shown.end(), image.begin(), image.end());
  }
  const std::vector<float*> outputs = model->inference(kShown, {shown.data()});
  write_picture(picture, {shown.data(), outputs[0]});
  std::cout << "written: " << picture << "\n";
}
