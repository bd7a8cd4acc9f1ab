// Three inputs that are joined. Sources come in reverse order of their declaration, so the
// generator fills the last one first.
#include <model.h>
#include <util_func.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>

using ml::train::createLayer;
using nntrainer::withKey;

namespace {

constexpr int kSamples = 64;
constexpr int kHeights[] = {8, 4, 2};  // of inputs, as they come
constexpr int kWidth = 2;

struct State {
  int next = 0;
};

// Every number of a sample is its class, 0 to 3, divided by 4.
int read_sample(float** inputs, float** labels, bool* last, void* user_data) {
  auto* state = static_cast<State*>(user_data);
  const int label = state->next % 4;
  for (int i = 0; i < 3; ++i)
    std::fill_n(inputs[i], kHeights[i] * kWidth, static_cast<float>(label) / 4.0F);
  std::fill_n(labels[0], 4, 0.0F);
  labels[0][label] = 1.0F;
  state->next = (state->next + 1) % kSamples;
  *last = state->next == 0;
  return 0;
}

}  // namespace

int main() {
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET, {"loss=cross"});
  for (const char* shape : {"1:2:2", "1:4:2", "1:8:2"})
    model->addLayer(createLayer("input", {withKey("input_shape", shape)}));
  model->addLayer(
      createLayer("concat", {"name=joined", "axis=2", "input_layers=input0, input1, input2"}));
  model->addLayer(createLayer("flatten", {"name=row"}));
  model->addLayer(createLayer("fully_connected", {"unit=16", "activation=relu"}));
  model->addLayer(createLayer("fully_connected", {"unit=4", "activation=softmax"}));
  model->setOptimizer(ml::train::createOptimizer("adam", {"learning_rate=0.05"}));
  model->setProperty({"batch_size=16", "epochs=40"});
  if (model->compile() != 0 || model->initialize() != 0) return EXIT_FAILURE;
  model->summarize(std::cout, ML_TRAIN_SUMMARY_MODEL);
  for (const ml::train::TensorDim& dim : model->getInputDimension()) std::cout << dim;

  State train;
  State valid;
  const auto generator = [](State& state) {
    return ml::train::createDataset(ml::train::DatasetType::GENERATOR, read_sample, &state);
  };
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, generator(train));
  model->setDataset(ml::train::DatasetModeType::MODE_VALID, generator(valid));
  if (model->train() != 0) return EXIT_FAILURE;
  std::cout << "accuracy " << model->getValidStats().accuracy << " %\n";
  return model->getValidStats().accuracy > 90.0F ? EXIT_SUCCESS : EXIT_FAILURE;
}
