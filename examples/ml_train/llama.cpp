// A small decoder of LLaMA's form by NNTrainer's interface: rotary positions, root mean square
// norms, gated hidden layers. It learns a rhyme letter by letter, and then writes it: every call
// computes the row of one letter, and attention keeps the keys and values of those before.
// usage: llama [EPOCHS]
#include <model.h>
#include <util_func.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using ml::train::createLayer;
using nntrainer::withKey;

namespace {

constexpr char kText[] =
    "one for the plan that is printed before, two for the step that is ready once more, "
    "three for the bytes that are counted ahead, four for the weights that go quietly to bed. ";
constexpr int kLength = sizeof kText - 1;
constexpr int kSteps = 48;     // letters of a sample
constexpr int kAlphabet = 29;  // a to z, blank, comma, full stop
constexpr int kWidth = 48;
constexpr int kBlocks = 2;

int code_of(char letter) {
  if (letter >= 'a' && letter <= 'z') return letter - 'a';
  return letter == ' ' ? 26 : letter == ',' ? 27 : 28;
}
char letter_of(int code) { return code < 26 ? static_cast<char>('a' + code) : " ,."[code - 26]; }

// Adds a layer that reads another one, and returns its name.
std::string add(ml::train::Model& model, const std::string& type, const std::string& name,
                const std::string& inputs, std::vector<std::string> properties = {}) {
  properties.push_back(withKey("name", name));
  properties.push_back(withKey("input_layers", inputs));
  model.addLayer(createLayer(type, properties));
  return name;
}

std::string dense(ml::train::Model& model, const std::string& name, const std::string& input,
                  int units) {
  return add(model, "fully_connected", name, input, {withKey("unit", units), "disable_bias=true"});
}

std::string block(ml::train::Model& model, int index, const std::string& x) {
  const auto named = [&](const char* part) { return "block" + std::to_string(index) + "/" + part; };
  const std::string norm = add(model, "rmsnorm", named("norm1"), x, {"epsilon=1e-5"});
  const std::string mixed =
      add(model, "multi_head_attention", named("attention"), norm + "," + norm + "," + norm,
          {"num_heads=4", "causal_mask=true", "rotary_base=10000", "disable_bias=true"});
  const std::string sum = add(model, "addition", named("sum1"), x + "," + mixed);
  const std::string second = add(model, "rmsnorm", named("norm2"), sum, {"epsilon=1e-5"});
  const std::string gate = dense(model, named("gate"), second, 2 * kWidth);
  const std::string up = dense(model, named("up"), second, 2 * kWidth);
  const std::string hidden = add(model, "swiglu", named("swiglu"), gate + "," + up);
  return add(model, "addition", named("sum2"),
             sum + "," + dense(model, named("down"), hidden, kWidth));
}

void add_layers(ml::train::Model& model) {
  model.addLayer(createLayer(
      "input", {"name=letters", withKey("input_shape", "1:1:" + std::to_string(kSteps))}));
  std::string x = add(model, "embedding", "embedding", "letters",
                      {withKey("in_dim", kAlphabet), withKey("out_dim", kWidth)});
  for (int i = 0; i < kBlocks; ++i) x = block(model, i, x);
  x = add(model, "rmsnorm", "norm", x, {"epsilon=1e-5"});
  add(model, "fully_connected", "scores", x,
      {withKey("unit", kAlphabet), "disable_bias=true", "activation=softmax"});
}

// Samples are all places of the text, and labels the letter after each.
int read_sample(float** inputs, float** labels, bool* last, void* user_data) {
  int& at = *static_cast<int*>(user_data);
  std::fill_n(labels[0], kSteps * kAlphabet, 0.0F);
  for (int t = 0; t < kSteps; ++t) {
    inputs[0][t] = static_cast<float>(code_of(kText[(at + t) % kLength]));
    labels[0][t * kAlphabet + code_of(kText[(at + t + 1) % kLength])] = 1.0F;
  }
  at = (at + 1) % kLength;
  *last = at == 0;
  return 0;
}

// What the model writes behind a beginning.
std::string written(ml::train::Model& model, std::string text, int length) {
  std::vector<float> letters(kSteps);
  unsigned int from = 0;
  while (static_cast<int>(text.size()) < length) {
    const auto to = static_cast<unsigned int>(text.size());
    for (unsigned int t = from; t < to; ++t)
      letters[t - from] = static_cast<float>(code_of(text[t]));
    const std::vector<float*> rows =
        model.incremental_inference(1, {letters.data()}, {}, to, from, to);
    text += letter_of(static_cast<int>(std::max_element(rows[0], rows[0] + kAlphabet) - rows[0]));
    for (const float* row : rows) delete[] row;
    from = to;
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  auto model = ml::train::createModel(ml::train::ModelType::NEURAL_NET,
                                      {"loss=cross", withKey("batch_size", 16)});
  add_layers(*model);
  model->setOptimizer(ml::train::createOptimizer("adamw", {"learning_rate=0.003"}));
  if (model->compile() != 0 || model->initialize() != 0) return EXIT_FAILURE;
  model->summarize(std::cout, ML_TRAIN_SUMMARY_MODEL);
  int at = 0;
  std::shared_ptr<ml::train::Dataset> samples =
      ml::train::createDataset(ml::train::DatasetType::GENERATOR, read_sample, &at);
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, samples);
  if (model->train({withKey("epochs", argc > 1 ? argv[1] : "12")}) != 0) return EXIT_FAILURE;
  const std::string text = written(*model, "two for the step", kSteps);
  std::cout << text << "\n";
  return std::string(kText).find(text) != std::string::npos ? EXIT_SUCCESS : EXIT_FAILURE;
}
