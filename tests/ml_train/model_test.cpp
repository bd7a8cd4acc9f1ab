// Models: order of calls, callbacks, log, table.
#include <gtest/gtest.h>
#include <model.h>
#include <nntrainer_error.h>
#include <util_func.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "io/temporary_folder.h"
#include "ml_train/small_model.h"

namespace thimble::test::ml_train_test {
namespace {

using ml::train::createLayer;
using ml::train::createModel;
using ml::train::createOptimizer;
using ml::train::DatasetModeType;
using ml::train::ExecutionMode;
using ml::train::ModelType;
using nntrainer::withKey;

TEST(ml_train_model, refuses_what_it_does_not_know) {
  const auto layer_error = [](const std::string& type, const std::string& property) {
    return message_of([&] { static_cast<void>(createLayer(type, {property})); });
  };
  for (const auto& [type, property, message] : std::vector<std::array<std::string, 3>>{
           {"conv2d", "filter=3", "no such property; there are filters"},
           {"conv2d", "kernel_size=3", "expected 2 whole numbers from 1"},
           {"conv2d", "padding=1,2,3", "expected valid, same"},
           {"fully_connected", "unit=0", "expected a whole number from 1"},
           {"fully_connected", "unit=2x", "expected a whole number from 1"},
           {"fully_connected", "disable_bias=True", "expected true or false"},
           {"fully_connected", "engine=gpu", "only cpu is offered"},
           {"fully_connected", "unit", "expected key=value"},
           {"fully_connected", "name=a b$", "expected a name"},
           {"activation", "activation=step", "expected one of tanh, sigmoid"},
           {"backbone_nnstreamer", "model_path=x", "cannot be read"},
           {"mystery", "unit=1", "there is no type"}}) {
    EXPECT_NE(layer_error(type, property).find(message), std::string::npos)
        << type << " " << property << ": " << layer_error(type, property);
  }
  EXPECT_NE(message_of([] {
              createModel(ModelType::NEURAL_NET, {"model_tensor_type=QINT8-FP32"});
            }).find("FP32"),
            std::string::npos);
  EXPECT_THROW(createModel(ModelType::KNN), std::invalid_argument);
  EXPECT_THROW(createOptimizer("sgd", {"momentum=0.9"}), std::invalid_argument);
  EXPECT_THROW(withKey("axis", std::initializer_list<int>{}), std::invalid_argument);
  EXPECT_EQ(withKey("axis", {1, 2}), "axis=1,2");
}

TEST(ml_train_model, asks_for_the_calls_in_their_order) {
  auto model = createModel();
  EXPECT_EQ(model->compile(), ML_ERROR_INVALID_PARAMETER);  // no layers
  EXPECT_EQ(model->initialize(), ML_ERROR_NOT_SUPPORTED);
  model->addLayer(createLayer("input", {"input_shape=1:1:2"}));
  model->addLayer(createLayer("fully_connected", {"unit=2"}));
  EXPECT_EQ(model->compile(), 0);
  EXPECT_EQ(model->compile(), ML_ERROR_NOT_SUPPORTED);
  EXPECT_THROW(model->addLayer(createLayer("flatten")), std::runtime_error);
  EXPECT_EQ(model->initialize(), ML_ERROR_INVALID_PARAMETER);  // no optimizer
  EXPECT_EQ(model->setOptimizer(createOptimizer("sgd")), 0);
  EXPECT_EQ(model->initialize(), 0);
  EXPECT_EQ(model->initialize(), ML_ERROR_NOT_SUPPORTED);
  std::shared_ptr<ml::train::Layer> layer;
  EXPECT_THROW(model->getLayer("nobody", &layer), std::out_of_range);
  EXPECT_EQ(model->setDataset(DatasetModeType::MODE_TRAIN, nullptr), ML_ERROR_INVALID_PARAMETER);
}

TEST(ml_train_model, prints_the_known_log) {
  auto model = small_model();
  Samples samples = small_samples();
  Samples valid = small_samples(2);
  model->setDataset(DatasetModeType::MODE_VALID, dataset_of(valid));
  const std::string log = trained(*model, samples, {"epochs=2"});
  std::ostringstream loss;
  loss << model->getTrainingLoss();
  EXPECT_TRUE(log.starts_with("#1/2 [          0           ]  ( Training Loss: ")) << log;
  EXPECT_NE(log.find(" )\r#1/2 [          1           ]  ( Training Loss: "), std::string::npos);
  EXPECT_NE(log.find("#2/2 - Training Loss: " + loss.str() + " >> [ Accuracy: "), std::string::npos)
      << log;
  EXPECT_NE(log.find("% - Validation Loss : "), std::string::npos);
  EXPECT_TRUE(log.ends_with(" ]\n"));
  EXPECT_EQ(model->getTrainingStats().num_iterations, 2);
  EXPECT_EQ(model->getCurrentEpoch(), 2U);
}

TEST(ml_train_model, prints_the_known_table) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=cross"});
  std::ostringstream empty;
  model->summarize(empty, ML_TRAIN_SUMMARY_MODEL);
  EXPECT_EQ(empty.str(), "model is empty!\n");
  model->addLayer(createLayer("input", {"input_shape=1:1:10"}));
  model->addLayer(createLayer("fully_connected", {"unit=5", "activation=softmax"}));
  model->setOptimizer(createOptimizer("SGD"));
  model->compile();
  model->initialize();
  std::ostringstream table;
  model->summarize(table, ML_TRAIN_SUMMARY_MODEL);
  const std::string rule(80, '=');
  EXPECT_EQ(table.str(), rule +
                             "\n          Layer name          Layer type    Output dimension"
                             "         Input layer\n" +
                             rule +
                             "\n              input0               input            1:1:1:10"
                             "                    \n" +
                             std::string(80, '-') +
                             "\n    fully_connected1     fully_connected             1:1:1:5"
                             "              input0\n" +
                             std::string(80, '-') +
                             "\n      cross_softmax0       cross_softmax             1:1:1:5"
                             "    fully_connected1\n" +
                             rule + "\n");
}

TEST(ml_train_model, infers_what_it_was_trained_for) {
  const TemporaryFolder folder;
  auto model = small_model();
  Samples samples = small_samples();
  trained(*model, samples);
  model->save(folder / "m.bin");
  auto other = createModel();
  other->addLayer(createLayer("input", {"input_shape=1:1:2"}));
  other->addLayer(createLayer("fully_connected", {"unit=2"}));
  ASSERT_EQ(other->compile(ExecutionMode::INFERENCE), 0);
  ASSERT_EQ(other->initialize(ExecutionMode::INFERENCE), 0);
  other->load(folder / "m.bin");
  for (const unsigned batch : {1U, 3U}) {
    std::vector<float> x = numbers(2 * batch, 5.0);
    const std::vector<float> y(model->inference(batch, {x.data()})[0],
                               model->inference(batch, {x.data()})[0] + 2 * batch);
    const float* same = other->inference(batch, {x.data()})[0];
    for (size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(same[i], y[i]);
  }
  std::vector<float> x{1.0F, 2.0F};
  std::vector<float> label(2, 0.0F);
  const float* y = model->inference(1, {x.data()}, {label.data()})[0];
  EXPECT_FLOAT_EQ(model->getLoss(), (y[0] * y[0] + y[1] * y[1]) / 2.0F);
}

TEST(ml_train_model, sees_what_users_write_to_weights) {
  auto model = small_model();
  const std::vector<float*> values = layer_of(*model, "fc")->getWeights();
  const float weight[] = {1.0F, 2.0F, 3.0F, 4.0F};  // [in, out]
  std::copy(weight, weight + 4, values[0]);
  std::fill(values[1], values[1] + 2, 0.5F);
  std::vector<float> x{1.0F, 10.0F};
  const float* y = model->inference(1, {x.data()})[0];
  EXPECT_FLOAT_EQ(y[0], 31.5F);
  EXPECT_FLOAT_EQ(y[1], 42.5F);
  Samples samples = small_samples();
  trained(*model, samples);
  EXPECT_NE(values[0][0], 1.0F);  // the same memory has the trained values
}

TEST(ml_train_model, trains_on_a_last_batch_of_fewer_samples) {
  auto model = small_model();
  Samples samples = small_samples(5);
  trained(*model, samples, {"epochs=2"});
  EXPECT_EQ(model->getTrainingStats().num_iterations, 3);
}

TEST(ml_train_model, stops_and_reports_epochs) {
  auto model = small_model();
  Samples samples = small_samples();
  model->setDataset(DatasetModeType::MODE_TRAIN, dataset_of(samples));
  int epochs = 0;
  testing::internal::CaptureStdout();
  model->train(
      {"epochs=10"}, [](void* n) { return *static_cast<int*>(n) == 3; }, &epochs,
      [](void* n) { ++*static_cast<int*>(n); }, &epochs);
  static_cast<void>(testing::internal::GetCapturedStdout());
  EXPECT_EQ(epochs, 3);
  EXPECT_EQ(model->getCurrentEpoch(), 3U);
}

// Weights are those of the steps before it.
TEST(ml_train_model, hands_on_the_error_of_a_generator) {
  auto model = small_model();
  const std::vector<float> before = weights_of(*model);
  int count = 0;
  const auto third_fails = [](float** input, float** label, bool*, void* n) {
    std::fill_n(input[0], 2, 1.0F);
    std::fill_n(label[0], 2, 1.0F);
    return ++*static_cast<int*>(n) < 3 ? 0 : ML_ERROR_UNKNOWN;
  };
  model->setDataset(
      DatasetModeType::MODE_TRAIN,
      ml::train::createDataset(ml::train::DatasetType::GENERATOR, third_fails, &count));
  testing::internal::CaptureStdout();
  EXPECT_NE(message_of([&] { model->train(); }).find("-1073741824"), std::string::npos);
  static_cast<void>(testing::internal::GetCapturedStdout());
  EXPECT_NE(weights_of(*model), before);
}

TEST(ml_train_model, takes_sources_in_reverse_order_of_declaration) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  for (const char* shape : {"1:2:2", "1:4:2", "1:8:2"})
    model->addLayer(createLayer("input", {withKey("input_shape", shape)}));
  model->addLayer(
      createLayer("concat", {"name=c", "axis=2", "input_layers=input0, input1, input2"}));
  model->addLayer(createLayer("fully_connected", {"unit=1"}));
  model->setOptimizer(createOptimizer("sgd"));
  ASSERT_EQ(model->compile(), 0);
  ASSERT_EQ(model->initialize(), 0);
  const auto dims = model->getInputDimension();
  ASSERT_EQ(dims.size(), 3U);
  EXPECT_EQ(dims[0].height(), 8U);
  EXPECT_EQ(dims[2].height(), 2U);
  EXPECT_EQ(model->getOutputDimension()[0].height(), 14U);
}

// What is wrong with a model of these layers.
std::string compile_error(const std::vector<std::pair<std::string, std::string>>& layers) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  model->addLayer(createLayer("input", {"name=in", "input_shape=1:2:2"}));
  for (const auto& [type, properties] : layers) model->addLayer(createLayer(type, {properties}));
  model->setOptimizer(createOptimizer("sgd"));
  testing::internal::CaptureStderr();
  const std::string thrown = message_of([&] {
    if (model->compile() == 0) static_cast<void>(model->initialize());
  });
  return testing::internal::GetCapturedStderr() + thrown;
}

TEST(ml_train_model, refuses_networks_that_do_not_fit) {
  using Layers = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [layers, message] : std::vector<std::pair<Layers, std::string>>{
           {{{"fully_connected", "name=mse0|unit=2"}}, "has the name of another layer"},
           {{{"conv2d", "name=a|filters=1|kernel_size=1,1"},
             {"conv2dtranspose", "filters=1|kernel_size=1,1|shared_from=a"}},
            "a layer of type conv2d: expected one of the same type"},
           {{{"flatten", "name=a"}, {"fully_connected", "unit=2|shared_from=a"}},
            "a layer of type flatten: expected one of the same type"},
           {{{"fully_connected", "name=a|unit=2|input_layers=a"}}, "reads its own output"},
           {{{"batch_normalization", "momentum=1.5"}}, "momentum is from 0 to 1"},
           {{{"batch_normalization", "epsilon=-1"}}, "epsilon is 0 or more"},
           {{{"flatten", "distribute=true"}, {"conv2d", "filters=2|kernel_size=1,1"}}, ""},
           {{{"conv2d", "filters=2|kernel_size=1,1|distribute=true"}},
            "distribute needs a row for every row"},
           {{{"mse", "distribute=true"}}, "distribute is not for losses"},
           {{{"lstm", "unit=2|dropout_rate=1"}}, "dropout_rate is from 0 to below 1"}}) {
    const std::string error = compile_error(layers);
    EXPECT_EQ(error.empty(), message.empty()) << error;
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
  // No layer makes so many outputs.
  EXPECT_NE(message_of([] { createLayer("flatten", {"input_layers=a(65536)"}); }).find("65535"),
            std::string::npos);
}

TEST(ml_train_model, keeps_its_input_dimensions_where_others_do_not_fit) {
  auto model = small_model();
  EXPECT_THROW(model->resetInputDimension({ml::train::TensorDim(1, 1, 3)}), std::invalid_argument);
  EXPECT_THROW(model->resetInputDimension({ml::train::TensorDim(1, 0, 2)}), std::invalid_argument);
  EXPECT_EQ(model->getInputDimension()[0].width(), 2U);
  model->resetInputDimension({ml::train::TensorDim(1, 3, 2)});
  EXPECT_EQ(model->getInputDimension()[0].height(), 3U);
  EXPECT_EQ(model->getOutputDimension()[0].height(), 3U);
}

// The optimizer's state and the steps go on with another batch.
TEST(ml_train_model, continues_with_another_batch) {
  const TemporaryFolder folder;
  for (const std::string optimizer : {"adam", "adamw", "rmsprop", "sgd"}) {
    auto model = small_model(optimizer);
    Samples samples = small_samples();
    trained(*model, samples, {"epochs=2"});
    model->save(folder / "before.bin");
    // All epochs are done: only the batch is another one.
    trained(*model, samples, {"epochs=2", "continue_train=true", "batch_size=4"});
    model->save(folder / "after.bin");
    EXPECT_EQ(bytes_of(folder / "after.bin"), bytes_of(folder / "before.bin")) << optimizer;
    trained(*model, samples, {"epochs=3", "continue_train=true"});
    EXPECT_EQ(model->getTrainingStats().num_iterations, 1);
  }
}

TEST(ml_train_model, counts_what_is_right_for_the_first_label) {
  for (const auto& [order, accuracy] :
       {std::pair("label_layers=mse0,mse1", 0.0F), std::pair("label_layers=mse1,mse0", 100.0F)}) {
    auto model = createModel(ModelType::NEURAL_NET, {"loss=mse", "batch_size=2", order});
    model->addLayer(createLayer("input", {"name=in", "input_shape=1:1:2"}));
    for (const char* name : {"name=a", "name=b"}) {
      model->addLayer(createLayer("fully_connected",
                                  {name, "unit=2", "input_layers=in", "weight_initializer=zeros"}));
    }
    model->setOptimizer(createOptimizer("sgd"));
    ASSERT_EQ(model->compile(), 0);
    ASSERT_EQ(model->initialize(), 0);
    // a gives the class 0, b the class 1, which both labels say.
    layer_of(*model, "a")->getWeights()[1][0] = 5.0F;
    layer_of(*model, "b")->getWeights()[1][1] = 5.0F;
    Samples samples{
        .inputs = {numbers(4, 1.0)}, .labels = {{0, 1, 0, 1}, {0, 1, 0, 1}}, .count = 2};
    Samples valid = samples;
    model->setDataset(DatasetModeType::MODE_VALID, dataset_of(valid));
    trained(*model, samples);
    EXPECT_EQ(model->getValidStats().accuracy, accuracy) << order;
  }
}

TEST(ml_train_model, keeps_a_memory_budget_without_changing_a_bit) {
  std::vector<std::vector<float>> weights;
  for (const std::string budget : {"memory_budget=1GiB", "memory_budget=1500", "fsu=true"}) {
    auto model = small_model("adam", {budget});
    Samples samples = small_samples();
    trained(*model, samples, {"epochs=2"});
    weights.push_back(weights_of(*model));
  }
  EXPECT_EQ(weights[1], weights[0]);
  EXPECT_EQ(weights[2], weights[0]);
  EXPECT_THROW(createModel(ModelType::NEURAL_NET, {"memory_budget=much"}), std::exception);
}

TEST(ml_train_model, refuses_settings_that_contradict_each_other_or_have_no_meaning) {
  const auto refusal = [](const std::vector<std::string>& settings) {
    auto model = small_model("sgd", settings);
    Samples samples = small_samples();
    model->setDataset(DatasetModeType::MODE_TRAIN, dataset_of(samples));
    testing::internal::CaptureStdout();
    const std::string message = message_of([&] { model->train(); });
    testing::internal::GetCapturedStdout();
    return message;
  };
  EXPECT_EQ(refusal({"memory_swap=false", "fsu=true"}),
            "[model] memory_swap=false and fsu=true: one setting, under two names; give one");
  EXPECT_EQ(refusal({"fsu=true", "fsu_path=.", "memory_swap_path=/"}),
            "[model] memory_swap_path=/ and fsu_path=.: one setting, under two names; give one");
  EXPECT_EQ(
      refusal({"memory_swap=true", "memory_swap_path=/no/such/folder"}),
      "[model] memory_swap_path=/no/such/folder: no such folder; make it, or name another one");
  EXPECT_EQ(refusal({"memory_swap=true", "fsu=true", "memory_swap_path=.", "fsu_lookahead=2"}), "");
  EXPECT_EQ(refusal({"clip_grad_by_norm=-1"}), "[model] clip_grad_by_norm is 0 or more, got -1");
}

// The same training to rounding, in less memory.
TEST(ml_train_model, trains_in_micro_batches) {
  constexpr size_t kSamples = 256;
  Samples samples = small_samples(kSamples);
  const auto model_of = [&](const std::string& parts, const std::string& budget) {
    auto model = small_model("sgd", {"batch_size=256", "micro_batches=" + parts});
    model->setProperty({"memory_budget=" + budget});
    model->setDataset(DatasetModeType::MODE_TRAIN, dataset_of(samples));
    return model;
  };
  std::vector<std::string> least;
  for (const std::string parts : {"1", "4", "auto"}) {
    const std::string refusal = message_of([&] { model_of(parts, "1")->train(); });
    const std::string words = "Nearest budget that works: ";
    const size_t at = refusal.find(words);
    ASSERT_NE(at, std::string::npos) << refusal;
    least.push_back(std::to_string(std::stoll(refusal.substr(at + words.size()))));
  }
  EXPECT_LT(std::stoll(least[1]), std::stoll(least[0]));
  EXPECT_LE(std::stoll(least[2]), std::stoll(least[1]));
  EXPECT_THROW(model_of("1", least[1])->train(), std::exception);
  std::vector<std::vector<float>> weights;
  for (const auto& [parts, budget] :
       {std::pair{"1", least[0]}, {"4", least[1]}, {"auto", least[2]}}) {
    auto model = model_of(parts, budget);
    trained(*model, samples, {"epochs=2"});
    weights.push_back(weights_of(*model));
  }
  for (size_t i = 0; i < weights[0].size(); ++i) {
    EXPECT_NEAR(weights[1][i], weights[0][i], 1e-5);
    EXPECT_NEAR(weights[2][i], weights[0][i], 1e-5);
  }
  for (const std::string wrong : {"0", "-1", "2x", "many"}) {
    EXPECT_NE(message_of([&] {
                createModel(ModelType::NEURAL_NET, {"micro_batches=" + wrong});
              }).find("expected a whole number from 1, or auto"),
              std::string::npos);
  }
}

// Activations and gradients of 16 bits: the same training to their rounding.
TEST(ml_train_model, trains_with_tensors_of_16_bits) {
  std::vector<std::vector<float>> weights;
  for (const std::string type : {"FP32-FP32", "FP16-FP16"}) {
    auto model = small_model("sgd", {"model_tensor_type=" + type});
    if (type == "FP16-FP16") model->setProperty({"loss_scale=1024"});
    Samples samples = small_samples();
    trained(*model, samples, {"epochs=5"});
    weights.push_back(weights_of(*model));
  }
  EXPECT_NE(weights[1], weights[0]);
  for (size_t i = 0; i < weights[0].size(); ++i) EXPECT_NEAR(weights[1][i], weights[0][i], 2e-3);
  EXPECT_THROW(small_model("sgd", {"loss_scale=0"}), std::invalid_argument);
  auto model = small_model("sgd", {"loss_scale=8"});
  Samples samples = small_samples();
  model->setDataset(DatasetModeType::MODE_TRAIN, dataset_of(samples));
  EXPECT_NE(message_of([&] { model->train(); }).find("FP32-FP16"), std::string::npos);
}

// What was set since the last training counts in the next one, which goes on.
TEST(ml_train_model, goes_on_with_other_settings) {
  auto model = small_model("adam");
  Samples samples = small_samples();
  trained(*model, samples, {"epochs=1"});
  model->setDataset(DatasetModeType::MODE_TRAIN, dataset_of(samples));
  EXPECT_NE(message_of([&] {
              model->train({"epochs=2", "continue_train=true", "memory_budget=100"});
            }).find("budget"),
            std::string::npos);
  model->setProperty({"memory_budget=1MiB"});
  trained(*model, samples, {"epochs=2", "continue_train=true"});
  auto whole = small_model("adam");
  trained(*whole, samples, {"epochs=2"});
  EXPECT_EQ(weights_of(*model), weights_of(*whole));
}

TEST(ml_train_model, copies_its_configuration) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  model->addLayer(createLayer("input", {"name=in", "input_shape=1:1:2"}));
  model->addLayer(createLayer("fully_connected", {"name=fc", "unit=2"}));
  model->setOptimizer(createOptimizer("sgd", {"learning_rate=3e-7"}));
  auto copy = ml::train::copyConfiguration(*model);
  EXPECT_EQ(copy->compile(), 0);
  EXPECT_EQ(copy->initialize(), 0);
  EXPECT_FALSE(model->getCompiled());
  EXPECT_THROW(ml::train::copyConfiguration(*copy), std::invalid_argument);
}

}  // namespace
}  // namespace thimble::test::ml_train_test
