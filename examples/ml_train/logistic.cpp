// Logistic regression from an INI file: trains on points of two classes, saves the weights, and
// reads them into a second model that only infers.
// usage: logistic FILE.ini WEIGHTS.bin
#include <model.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int kPoints = 90;

// Points around the line x + y = 1, of the class 1 above it.
struct Points {
  std::mt19937 random{1};
  int next = 0;

  static float make(std::mt19937& random, float* point) {
    const auto number = [&] { return static_cast<float>(random()) / 4294967296.0F; };
    point[0] = number();
    point[1] = number();
    return point[0] + point[1] > 1.0F ? 1.0F : 0.0F;
  }

  static int read(float** input, float** label, bool* last, void* user_data) {
    auto* self = static_cast<Points*>(user_data);
    if (self->next == 0) self->random.seed(1);  // the same points every epoch
    label[0][0] = make(self->random, input[0]);
    self->next = (self->next + 1) % kPoints;
    *last = self->next == 0;
    return 0;
  }
};

std::unique_ptr<ml::train::Model> model_of(const char* path, ml::train::ExecutionMode mode) {
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET);
  if (model->loadFromConfig(path) != 0 || model->compile(mode) != 0 ||
      model->initialize(mode) != 0) {
    std::exit(EXIT_FAILURE);
  }
  return model;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: logistic FILE.ini WEIGHTS.bin\n";
    return EXIT_FAILURE;
  }
  Points points;
  auto model = model_of(argv[1], ml::train::ExecutionMode::TRAIN);
  model->setDataset(
      ml::train::DatasetModeType::MODE_TRAIN,
      ml::train::createDataset(ml::train::DatasetType::GENERATOR, &Points::read, &points));
  if (model->train() != 0) return EXIT_FAILURE;
  model->save(argv[2], ml::train::ModelFormat::MODEL_FORMAT_BIN);

  auto trained = model_of(argv[1], ml::train::ExecutionMode::INFERENCE);
  trained->load(argv[2], ml::train::ModelFormat::MODEL_FORMAT_BIN);
  std::mt19937 random(2);
  int right = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<float> point(2);
    const float label = Points::make(random, point.data());
    const bool above = trained->inference(1, {point.data()})[0][0] > 0.5F;
    if (above == (label > 0.5F)) ++right;
  }
  std::cout << right << " of 1000 new points are right\n";
  return right > 900 ? EXIT_SUCCESS : EXIT_FAILURE;
}
