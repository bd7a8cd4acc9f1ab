// Every layer type and optimizer against PyTorch through the interface: losses of five updates, the
// trained weights, and what inference gives after them (scripts/goldens_ml_train.py).
#include <gtest/gtest.h>
#include <model.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "ml_train/build.h"
#include "ml_train/generator.h"

namespace thimble::test::ml_train_test {
namespace {

using ml::train::createLayer;
using ml::train::createOptimizer;
using nlohmann::json;

constexpr size_t kBatch = 3;
constexpr double kTolerance = 1e-4;  // relative to numbers around 1, after five updates in float

const json& goldens() {
  static const json all = [] {
    std::ifstream file(std::string(THIMBLE_SOURCE_DIR) + "/tests/ml_train/goldens.json");
    return json::parse(file);
  }();
  return all;
}

size_t product(const json& dims) {
  size_t n = 1;
  for (const json& d : dims) n *= d.get<size_t>();
  return n;
}

std::string shape_text(const json& dims) {
  std::string text;
  for (const json& d : dims) text += (text.empty() ? "" : ":") + std::to_string(d.get<int>());
  return text;
}

// "type|key=value|key=value"
std::pair<std::string, std::vector<std::string>> parsed(const std::string& text) {
  const size_t end = text.find('|');
  if (end == std::string::npos) return {text, {}};
  return {text.substr(0, end), {text.substr(end + 1)}};
}

// "type|settings", with ";schedule|settings" behind it where there is one.
std::shared_ptr<ml::train::Optimizer> optimizer_of(const std::string& text) {
  const size_t end = text.find(';');
  const auto [type, settings] = parsed(text.substr(0, end));
  std::shared_ptr<ml::train::Optimizer> optimizer = createOptimizer(type, settings);
  if (end != std::string::npos) {
    const auto [rule, keys] = parsed(text.substr(end + 1));
    optimizer->setLearningRateScheduler(ml::train::createLearningRateScheduler(rule, keys));
  }
  return optimizer;
}

class GoldenRun {
 public:
  explicit GoldenRun(const json& golden) : golden_(golden) {
    std::vector<std::string> of_model{"loss=" + golden["loss"].get<std::string>(), "batch_size=3",
                                      "threads=1"};
    std::string of_input;
    for (const json& property : golden["model"]) {
      const auto text = property.get<std::string>();
      if (text.starts_with("input:")) {
        of_input = "|" + text.substr(6);
      } else {
        of_model.push_back(text);
      }
    }
    of_model.push_back("epochs=5");
    model_ = ml::train::createModel(ml::train::ModelType::NEURAL_NET, of_model);
    for (size_t i = 0; i < golden["inputs"].size(); ++i) {
      model_->addLayer(createLayer("input", {"name=input" + std::to_string(i) + "|input_shape=" +
                                             shape_text(golden["inputs"][i]) + of_input}));
    }
    for (const json& text : golden["layers"]) {
      const auto [type, properties] = parsed(text.get<std::string>());
      model_->addLayer(createLayer(type, properties));
    }
    model_->setOptimizer(optimizer_of(golden["optimizer"].get<std::string>()));
  }

  void compare() {
    ASSERT_EQ(model_->compile(), 0);
    ASSERT_EQ(model_->initialize(), 0);
    set_weights();
    fill_samples();
    model_->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(samples_));
    std::vector<float> losses;
    auto record = std::make_pair(model_.get(), &losses);
    testing::internal::CaptureStdout();
    const int status = model_->train(
        {}, [](void*) { return false; }, nullptr,
        [](void* data) {
          auto* to = static_cast<decltype(record)*>(data);
          to->second->push_back(to->first->getLoss());
        },
        &record);
    static_cast<void>(testing::internal::GetCapturedStdout());
    ASSERT_EQ(status, 0);
    expect_near(golden_["losses"], losses.data(), losses.size(), "losses");
    for (const json& weight : golden_["weights"]) {
      const auto name = weight["name"].get<std::string>();
      expect_near(weight["values"], values_.at(name), product(weight["dims"]), name);
    }
    std::vector<float*> inputs;
    for (auto& input : samples_.inputs) inputs.push_back(input.data());
    const std::vector<float*> outputs = model_->inference(kBatch, inputs);
    ASSERT_FALSE(outputs.empty());
    expect_near(golden_["output"], outputs[0], kBatch * product(golden_["label"]), "output");
  }

 private:
  // The golden's numbers, into weights of the documented names and dimensions.
  void set_weights() {
    model_->forEachLayer(
        [](ml::train::Layer& layer, nntrainer::RunLayerContext&, void* data) {
          auto& self = *static_cast<GoldenRun*>(data);
          std::vector<float*> values;
          std::vector<ml::train::TensorDim> dims;
          layer.getWeights(values, dims);
          for (size_t i = 0; i < values.size(); ++i) {
            const std::string name = layer.getWeightName(static_cast<unsigned int>(i));
            self.values_[name] = values[i];
            self.dims_.emplace(name, dims[i]);
            if (self.order_.empty() || !std::count(self.order_.begin(), self.order_.end(), name)) {
              self.order_.push_back(name);
            }
          }
        },
        this);
    std::vector<std::string> expected;
    double seed = 0.0;
    for (const json& weight : golden_["weights"]) {
      const auto name = weight["name"].get<std::string>();
      expected.push_back(name);
      ASSERT_TRUE(values_.contains(name)) << name;
      const json& d = weight["dims"];
      const ml::train::TensorDim dim(d[0].get<size_t>(), d[1].get<size_t>(), d[2].get<size_t>(),
                                     d[3].get<size_t>());
      ASSERT_EQ(dims_.at(name), dim) << name << " " << dims_.at(name);
      const bool variance = name.ends_with("moving_variance");
      const std::vector<float> first = numbers(product(d), seed++, 0.3, variance ? 1.0 : 0.0);
      std::copy(first.begin(), first.end(), values_.at(name));
    }
    EXPECT_EQ(order_, expected);
  }

  void fill_samples() {
    samples_.count = kBatch;
    double seed = 10.0;
    for (const json& dims : golden_["inputs"]) {
      samples_.inputs.push_back(
          numbers(kBatch * product(dims), seed++, golden_["scale"], golden_["shift"]));
    }
    if (const auto indexes = golden_["indexes"].get<size_t>(); indexes > 0) {
      auto& input = samples_.inputs[0];
      for (size_t i = 0; i < input.size(); ++i) input[i] = static_cast<float>(i * 3 % indexes);
    }
    const size_t label = product(golden_["label"]);
    samples_.labels.push_back(numbers(kBatch * label, 20.0));
    auto& classes = samples_.labels[0];
    const auto width = golden_["label"].back().get<size_t>();
    if (golden_["loss"] == "kld") {
      const float each = 0.5F / static_cast<float>(width - 1);
      for (size_t i = 0; i < classes.size(); ++i) classes[i] = i % width == width - 1 ? 0.5F : each;
    }
    if (golden_["loss"] != "cross") return;
    for (size_t i = 0; i < classes.size(); ++i)
      classes[i] = i % width == i / width % width ? 1.0F : 0.0F;
  }

  static void expect_near(const json& expected, const float* values, size_t count,
                          const std::string& what) {
    ASSERT_EQ(expected.size(), count) << what;
    for (size_t i = 0; i < count; ++i) {
      const auto wanted = expected[i].get<double>();
      ASSERT_NEAR(values[i], wanted, kTolerance * std::max(1.0, std::abs(wanted)))
          << what << ", number " << i;
    }
  }

  const json& golden_;
  std::unique_ptr<ml::train::Model> model_;
  std::map<std::string, float*> values_;
  std::map<std::string, ml::train::TensorDim> dims_;
  std::vector<std::string> order_;
  Samples samples_;
};

class ml_train_layers : public testing::TestWithParam<size_t> {};

TEST_P(ml_train_layers, equals_pytorch) { GoldenRun(goldens()[GetParam()]).compare(); }

INSTANTIATE_TEST_SUITE_P(, ml_train_layers, testing::Range<size_t>(0, goldens().size()),
                         [](const auto& test) {
                           return goldens()[test.param]["name"].template get<std::string>();
                         });

// A type that is missing from the cases must be here, with the reason.
TEST(ml_train_layer_types, are_all_compared) {
  std::set<std::string> seen = {"input",          // before every network
                                "activation",     // by every activation's case
                                "mse",            // the loss of most cases
                                "cross_sigmoid",  // loss=cross
                                "cross_softmax",  // loss=cross
                                "kld",            // loss=kld
                                "constant_derivative",
                                "preprocess_flip",  // other_layers_test.cpp
                                "preprocess_translate",
                                "centroid_knn",
                                "backbone_tflite",  // files_test.cpp
                                "backbone_onnx",
                                "bottleneck",
                                "vae_loss"};  // random: the VAE learns
  for (const json& golden : goldens()) {
    for (const json& layer : golden["layers"]) seen.insert(parsed(layer.get<std::string>()).first);
  }
  for (const ml_train::LayerKind& kind : ml_train::layer_kinds()) {
    if (kind.refused.empty()) {
      EXPECT_TRUE(seen.contains(kind.type)) << kind.type;
    }
  }
}

}  // namespace
}  // namespace thimble::test::ml_train_test
