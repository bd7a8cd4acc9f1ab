// A classifier of handwritten digits from an INI file, by NNTrainer's interface.
// usage: mnist FILE.ini [EPOCHS]
#include <model.h>
#include <util_func.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "samples.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mnist FILE.ini [EPOCHS]\n";
    return EXIT_FAILURE;
  }
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET);
  if (model->loadFromConfig(argv[1]) != 0) return EXIT_FAILURE;
  if (model->compile() != 0 || model->initialize() != 0) return EXIT_FAILURE;
  model->summarize(std::cout, ML_TRAIN_SUMMARY_MODEL);

  Digits train(4000, thimble::data::Split::train, Digits::Label::one_hot);
  Digits test(1000, thimble::data::Split::test, Digits::Label::one_hot);
  const auto generator = [](Digits& digits) {
    return ml::train::createDataset(ml::train::DatasetType::GENERATOR, &Digits::read, &digits);
  };
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, generator(train));
  model->setDataset(ml::train::DatasetModeType::MODE_VALID, generator(test));
  if (argc > 2) model->setProperty({nntrainer::withKey("epochs", argv[2])});
  if (model->train() != 0) return EXIT_FAILURE;
  std::cout << "accuracy " << model->getValidStats().accuracy << " %\n";
}
