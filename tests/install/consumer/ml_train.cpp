// An application of NNTrainer's: a model of two layers, trained on one sample.
#include <model.h>
#include <nntrainer_error.h>
#include <util_func.h>

#include <iostream>
#include <stdexcept>

namespace {

int one_sample(float** input, float** label, bool* last, void* /*user_data*/) {
  input[0][0] = 1.0F;
  input[0][1] = 2.0F;
  label[0][0] = 3.0F;
  *last = true;
  return ML_ERROR_NONE;
}

}  // namespace

int main() {
  auto model = createModel(ml::train::ModelType::NEURAL_NET, {"loss=mse"});
  model->addLayer(ml::train::layer::Input({nntrainer::withKey("input_shape", "1:1:2")}));
  model->addLayer(ml::train::layer::FullyConnected({"unit=1"}));
  model->setOptimizer(ml::train::optimizer::SGD({"learning_rate=0.1"}));
  NNTR_THROW_IF(model->compile() != 0 || model->initialize() != 0, std::runtime_error) << "compile";
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN,
                    ml::train::createDataset(ml::train::DatasetType::GENERATOR, one_sample));
  NNTR_THROW_IF(model->train({"epochs=3"}) != 0, std::runtime_error) << "train";
  std::cout << "loss " << model->getTrainingLoss() << "\n";
}
