// Files of models: weights, TensorFlow Lite, records of samples.
#include <gtest/gtest.h>
#include <model.h>
#include <nntrainer_error.h>
#include <thimble/export.h>
#include <thimble/import.h>
#include <thimble/predictor.h>
#include <thimble/quantize.h>
#include <util_func.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
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
using ml::train::ModelFormat;
using ml::train::ModelType;
using nntrainer::withKey;

TEST(ml_train_files, writes_the_documented_bytes_and_reads_them) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.bin";
  auto model = small_model("adam");
  Samples samples = small_samples();
  trained(*model, samples, {"epochs=3"});
  model->save(path);
  const std::string bytes = bytes_of(path);
  ASSERT_EQ(bytes.size(), 6 * 4U + 4U + 12 * 4U + 8U);
  const std::vector<float> weights = weights_of(*model);
  for (size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(float_at(bytes, 4 * i), weights[i]);
  EXPECT_EQ(bytes.substr(24, 4), "adam");
  for (size_t i = 0; i < 4; ++i) EXPECT_GE(float_at(bytes, 28 + 16 + 4 * i), 0.0F);  // v of weight
  uint32_t counters[2];
  std::memcpy(counters, bytes.data() + bytes.size() - 8, 8);
  EXPECT_EQ(counters[0], 3U);
  EXPECT_EQ(counters[1], 6U);

  // Going on from the file gives the bits of never having stopped.
  auto other = small_model("adam");
  other->load(path);
  EXPECT_EQ(weights_of(*other), weights);
  Samples again = small_samples();
  trained(*model, samples, {"epochs=5", "continue_train=true"});
  trained(*other, again, {"epochs=5", "continue_train=true"});
  EXPECT_EQ(weights_of(*other), weights_of(*model));
  EXPECT_NE(weights_of(*other), weights);

  // A model that does not train has the weights alone.
  auto infers = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  infers->addLayer(createLayer("input", {"input_shape=1:1:2"}));
  infers->addLayer(createLayer("fully_connected", {"unit=2"}));
  infers->setOptimizer(createOptimizer("adam"));
  ASSERT_EQ(infers->compile(), 0);
  ASSERT_EQ(infers->initialize(ExecutionMode::INFERENCE), 0);
  infers->load(path);
  infers->save(folder / "weights.bin");
  EXPECT_EQ(bytes_of(folder / "weights.bin"), bytes.substr(0, 24));
  EXPECT_EQ(infers->train(), ML_ERROR_INVALID_PARAMETER);

  // Weights of FP16 take two bytes each.
  auto half = small_model("sgd", {"model_tensor_type=FP16-FP32"});
  half->save(folder / "half.bin");
  EXPECT_EQ(bytes_of(folder / "half.bin").size(), 6 * 2U + 8U);
  const std::vector<float> exact = weights_of(*half);
  half->load(folder / "half.bin");
  const std::vector<float> rounded = weights_of(*half);
  EXPECT_NE(rounded, exact);
  for (size_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(rounded[i], exact[i], std::abs(exact[i]) / 2048) << i;
  }
  half->save(folder / "again.bin");
  EXPECT_EQ(bytes_of(folder / "again.bin"), bytes_of(folder / "half.bin"));

  std::ofstream(folder / "short.bin", std::ios::binary) << bytes.substr(0, 23);
  EXPECT_NE(message_of([&] { other->load(folder / "short.bin"); }).find("have 24"),
            std::string::npos);
  EXPECT_THROW(other->load(folder / "none.bin"), std::invalid_argument);
}

// 64 numbers in, 80 out: enough weights for moments of 8 bits.
std::unique_ptr<ml::train::Model> wide_model(const std::string& state_bits) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse", "batch_size=2", "threads=1"});
  model->addLayer(createLayer("input", {"input_shape=1:1:64"}));
  model->addLayer(createLayer("fully_connected", {"name=fc", "unit=80"}));
  model->setOptimizer(createOptimizer("adam", {"state_bits=" + state_bits}));
  EXPECT_EQ(model->compile(), 0);
  EXPECT_EQ(model->initialize(), 0);
  return model;
}

Samples wide_samples() {
  return {.inputs = {numbers(4 * 64, 1.0)}, .labels = {numbers(4 * 80, 2.0)}, .count = 4};
}

TEST(ml_train_files, keep_moments_of_eight_bits_as_they_are) {
  const TemporaryFolder folder;
  const std::string path = folder / "model.bin";
  auto model = wide_model("8");
  Samples samples = wide_samples();
  trained(*model, samples, {"epochs=3"});
  model->save(path);
  const std::string bytes = bytes_of(path);
  constexpr size_t kWeights = 64 * 80 + 80;
  constexpr size_t kCodes = 64 * 80 + 64 * 80 / 256 * 4;  // with a scale for 256 of them
  ASSERT_EQ(bytes.size(), kWeights * 4 + 4 + 2 * kCodes + 2 * 80 * 4 + 8);
  EXPECT_EQ(bytes.substr(kWeights * 4, 4), "adm8");

  // Going on from the file, and with another batch in between, gives the bits of never having
  // stopped.
  auto other = wide_model("8");
  other->load(path);
  other->save(folder / "again.bin");
  EXPECT_EQ(bytes_of(folder / "again.bin"), bytes);
  Samples again = wide_samples();
  trained(*other, again, {"epochs=3", "continue_train=true", "batch_size=4"});
  trained(*other, again, {"epochs=5", "continue_train=true", "batch_size=2"});
  trained(*model, samples, {"epochs=5", "continue_train=true"});
  model->save(path);
  other->save(folder / "again.bin");
  EXPECT_EQ(bytes_of(folder / "again.bin"), bytes_of(path));
  EXPECT_NE(bytes_of(path), bytes);

  // The weights move as with moments of 32 bits, not quite alike.
  auto whole = wide_model("32");
  Samples same = wide_samples();
  trained(*whole, same, {"epochs=5"});
  whole->save(folder / "whole.bin");
  const std::string exact = bytes_of(folder / "whole.bin");
  const std::string coded = bytes_of(path);
  double moved = 0.0;
  double apart = 0.0;
  for (size_t i = 0; i < kWeights; ++i) {
    const double change = float_at(exact, 4 * i) - float_at(bytes, 4 * i);
    const double error = float_at(coded, 4 * i) - float_at(exact, 4 * i);
    moved += change * change;
    apart += error * error;
  }
  EXPECT_GT(apart, 0.0);
  EXPECT_LT(apart, moved / 10);

  // Moments of another form are left out.
  whole->load(path);
  whole->save(folder / "weights.bin");
  EXPECT_EQ(bytes_of(folder / "weights.bin").substr(0, kWeights * 4),
            coded.substr(0, kWeights * 4));
  EXPECT_NE(message_of([] { createOptimizer("adam", {"state_bits=16"}); }).find("state_bits"),
            std::string::npos);
}

TEST(ml_train_files, has_a_shared_weight_once_in_its_file) {
  const TemporaryFolder folder;
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  model->addLayer(createLayer("input", {"input_shape=1:1:2"}));
  model->addLayer(createLayer("fully_connected", {"name=a", "unit=2", "disable_bias=true"}));
  model->addLayer(createLayer("fully_connected", {"name=b", "unit=2", "disable_bias=true"}));
  model->addLayer(
      createLayer("fully_connected", {"name=c", "unit=2", "disable_bias=true", "shared_from=a"}));
  model->setOptimizer(createOptimizer("sgd"));
  model->compile();
  model->initialize();
  model->save(folder / "m.bin");
  const std::string bytes = bytes_of(folder / "m.bin");
  ASSERT_EQ(bytes.size(), 2 * 16U + 8U);
  EXPECT_EQ(float_at(bytes, 0), layer_of(*model, "b")->getWeights()[0][0]);  // a stands at c
  EXPECT_EQ(float_at(bytes, 16), layer_of(*model, "a")->getWeights()[0][0]);
}

// The file of an epoch has the weights that it trained, also where users have pointers to them.
TEST(ml_train_files, saves_the_trained_weights_while_users_hold_them) {
  const TemporaryFolder folder;
  auto model = small_model();
  const std::vector<float> before = weights_of(*model);
  Samples samples = small_samples();
  trained(*model, samples, {withKey("save_path", folder / "m.bin")});
  const std::vector<float> after = weights_of(*model);
  EXPECT_NE(after, before);
  const std::string bytes = bytes_of(folder / "m.bin");
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(float_at(bytes, 4 * i), after[i]);
}

TEST(ml_train_files, exports_the_weights_that_users_wrote_as_tflite) {
  const TemporaryFolder folder;
  auto model = createModel(ModelType::NEURAL_NET, {"loss=cross", "batch_size=2", "threads=1"});
  model->addLayer(createLayer("input", {"name=in", "input_shape=2:5:5"}));
  model->addLayer(
      createLayer("conv2d", {"name=conv", "filters=3", "kernel_size=3,3", "activation=relu"}));
  model->addLayer(createLayer("flatten"));
  model->addLayer(createLayer("fully_connected", {"name=fc", "unit=2", "activation=softmax"}));
  model->setOptimizer(createOptimizer("adam"));
  ASSERT_EQ(model->compile(), 0);
  ASSERT_EQ(model->initialize(), 0);
  Samples samples{.inputs = {numbers(100, 1.0)}, .labels = {{0, 1, 1, 0}}, .count = 2};
  trained(*model, samples);
  layer_of(*model, "fc")->getWeights()[1][0] = 3.0F;
  model->exports(ml::train::ExportMethods::METHOD_TFLITE, folder / "m.tflite");
  EXPECT_EQ(layer_of(*model, "fc")->getWeights()[1][0], 3.0F);
  const float* const wanted = model->inference(1, {samples.inputs[0].data()})[0];
  Predictor written(import_tflite(folder / "m.tflite"));
  // Tensors of TensorFlow Lite are [height, width, channel].
  std::vector<float> image(50);
  for (size_t i = 0; i < 25; ++i)
    for (size_t c = 0; c < 2; ++c) image[i * 2 + c] = samples.inputs[0][c * 25 + i];
  const std::map<std::string, Array> outputs = written.run({{"in", image}});
  ASSERT_EQ(outputs.size(), 1U);
  const std::vector<float> y = outputs.begin()->second.floats();
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(y[i], wanted[i], 1e-5);
  EXPECT_THROW(model->exports(ml::train::ExportMethods::METHOD_FLATBUFFER, folder / "x"),
               nntrainer::exception::not_supported);
}

// A network of images, whose three results are written as TensorFlow Lite and as ONNX.
std::vector<float> write_networks(const TemporaryFolder& folder, std::vector<float> images) {
  auto model = createModel(ModelType::NEURAL_NET, {"threads=1"});
  model->addLayer(createLayer("input", {"name=in", "input_shape=2:5:5"}));
  model->addLayer(createLayer("conv2d", {"filters=3", "kernel_size=3,3", "activation=relu"}));
  model->addLayer(createLayer("flatten"));
  model->addLayer(createLayer("fully_connected", {"unit=3"}));
  EXPECT_EQ(model->compile(ExecutionMode::INFERENCE), 0);
  EXPECT_EQ(model->initialize(ExecutionMode::INFERENCE), 0);
  model->exports(ml::train::ExportMethods::METHOD_TFLITE, folder / "m.tflite");
  export_onnx(import_tflite(folder / "m.tflite"), folder / "m.onnx");
  const float* const y = model->inference(2, {images.data()})[0];
  return {y, y + 6};
}

TEST(ml_train_files, of_other_programs_are_frozen_backbones) {
  const TemporaryFolder folder;
  std::vector<float> images = numbers(100, 1.0);
  const std::vector<float> wanted = write_networks(folder, images);
  for (const std::string file : {"m.tflite", "m.onnx"}) {
    std::ofstream(folder / "m.ini") << "[Model]\ntype=x\nloss=mse\nbatch_size=2\n[Optimizer]\n"
                                       "type=sgd\nlearning_rate=1\n[in]\ntype=input\n"
                                       "input_shape=2:5:5\n[before]\ntype=add\n"
                                       "input_layers=in,shift\n[shift]\ntype=weight\n"
                                       "weight_name=w\ndim=2:5:5\nweight_initializer=zeros\n"
                                       "[body]\nbackbone=" +
                                           file + "\ninput_layers=before\n";
    auto model = createModel();
    ASSERT_EQ(model->loadFromConfig(folder / "m.ini"), 0);
    ASSERT_EQ(model->compile(), 0);
    ASSERT_EQ(model->initialize(), 0);
    const float* const y = model->inference(2, {images.data()})[0];
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[i], wanted[i], 1e-5) << file;
    EXPECT_TRUE(layer_of(*model, "body")->getWeights().empty());
    // Derivatives go through it to what stands before.
    Samples samples{.inputs = {images}, .labels = {numbers(6, 3.0)}, .count = 2};
    trained(*model, samples, {"epochs=1"});
    const float first = model->getTrainingLoss();
    trained(*model, samples, {"epochs=20"});
    EXPECT_LT(model->getTrainingLoss(), 0.5F * first) << file;
  }
  std::ofstream(folder / "m.tflite") << "no model";
  EXPECT_NE(
      message_of([&] {
        auto model = createModel();
        model->addLayer(createLayer("input", {"input_shape=2:5:5"}));
        model->addLayer(createLayer("backbone_tflite", {"model_path=" + (folder / "m.tflite")}));
        model->compile(ExecutionMode::INFERENCE);
        model->initialize(ExecutionMode::INFERENCE);
      }).find("m.tflite"),
      std::string::npos);
}

TEST(ml_train_files, of_int8_networks_take_and_give_floats) {
  const TemporaryFolder folder;
  std::vector<float> images = numbers(100, 1.0);
  static_cast<void>(write_networks(folder, images));
  const Graph network = import_tflite(folder / "m.tflite");
  const data::Dataset samples = data::in_memory({{"in", {5, 5, 2}}}, {Array(images)});
  const QuantizedModel floats = quantize_model(network, samples);
  export_tflite(quantize_model(network, samples, {.int8_inputs = true, .int8_outputs = true}).graph,
                folder / "int8.tflite");
  auto model = createModel();
  model->addLayer(createLayer("input", {"input_shape=2:5:5"}));
  model->addLayer(createLayer("backbone_tflite", {"model_path=" + (folder / "int8.tflite")}));
  ASSERT_EQ(model->compile(ExecutionMode::INFERENCE), 0);
  ASSERT_EQ(model->initialize(ExecutionMode::INFERENCE), 0);
  std::vector<float> planes(50);  // the second channel is 0
  std::copy_n(images.data(), 25, planes.data());
  std::vector<float> pixels(50, 0.0F);
  for (size_t i = 0; i < 25; ++i) pixels[2 * i] = images[i];
  const float* const y = model->inference(1, {planes.data()})[0];
  const auto wanted = Predictor(floats.graph).run({{"in", pixels}}).begin()->second.floats();
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(y[i], wanted[i]);
}

TEST(ml_train_files, of_onnx_are_whole_models) {
  const TemporaryFolder folder;
  std::vector<float> images = numbers(100, 1.0);
  const std::vector<float> wanted = write_networks(folder, images);
  auto model = createModel();
  model->load(folder / "m.onnx", ModelFormat::MODEL_FORMAT_ONNX);
  EXPECT_EQ(model->loadFromConfig(folder / "m.onnx"), ML_ERROR_INVALID_PARAMETER);
  ASSERT_EQ(model->compile(ExecutionMode::INFERENCE), 0);
  ASSERT_EQ(model->initialize(ExecutionMode::INFERENCE), 0);
  EXPECT_EQ(model->getInputDimension().at(0), ml::train::TensorDim(2, 5, 5));
  const float* const y = model->inference(2, {images.data()})[0];
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[i], wanted[i], 1e-5);
}

TEST(ml_train_files, reads_records_of_a_file) {
  const TemporaryFolder folder;
  const std::vector<float> records = numbers(16, 1.0);  // of two inputs and two labels
  std::ofstream(folder / "d.dat", std::ios::binary)
      .write(reinterpret_cast<const char*>(records.data()), 64);
  auto model = small_model();
  model->setDataset(DatasetModeType::MODE_TRAIN,
                    ml::train::createDataset(ml::train::DatasetType::FILE,
                                             (folder / "d.dat").c_str(), {"buffer_size=3"}));
  testing::internal::CaptureStdout();
  EXPECT_EQ(model->train({"epochs=2"}), 0);
  static_cast<void>(testing::internal::GetCapturedStdout());
  EXPECT_EQ(model->getTrainingStats().num_iterations, 2);
  std::ofstream(folder / "d.dat", std::ios::app) << "x";
  EXPECT_NE(message_of([&] { model->train(); }).find("65 bytes"), std::string::npos);
  EXPECT_THROW(ml::train::createDataset(ml::train::DatasetType::FILE, (folder / "none").c_str()),
               std::invalid_argument);
}

}  // namespace
}  // namespace thimble::test::ml_train_test
