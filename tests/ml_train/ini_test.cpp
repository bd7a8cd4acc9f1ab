// Models in INI files, and layers added as copies of others.
#include <gtest/gtest.h>
#include <model.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include "io/temporary_folder.h"
#include "ml_train/generator.h"
#include "ml_train/ini_model.h"

namespace thimble::test::ml_train_test {
namespace {

using ml::train::createLayer;
using ml::train::createModel;
using ml::train::createOptimizer;
using ml::train::ModelFormat;
using ml::train::ModelType;

constexpr const char* kModel = R"([Model]
Type = NeuralNetwork   # not checked
Loss = cross
Epochs = 3
Batch_Size = 4
save_path = "weights.bin"

[Optimizer]
Type = adam ; of Kingma and Ba
Learning_rate = 0.01
beta1 = 0.8

[LearningRateScheduler]
type = step
learning_rate = 0.01, 0.001
iteration = 10

[InputLayer]
Type = input
Input_Shape = 1:4:4

[Conv]
Type = conv2d
input_layers = inputlayer
filters = 2
kernel_size = 3,3
padding = same
activation = relu

[Flat]
Type = flatten

[Out]
Type = fully_connected
Unit = 3
Activation = softmax
)";

std::string read_error(const std::string& text) {
  return message_of([&] { static_cast<void>(ml_train::read_ini_model(text, "m.ini", "")); });
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(ml_train_ini, reads_a_model_that_trains) {
  const TemporaryFolder folder;
  write(folder / "m.ini", kModel);
  auto model = createModel();
  ASSERT_EQ(model->loadFromConfig(folder / "m.ini"), 0);
  EXPECT_EQ(model->loadFromConfig(folder / "m.ini"), -22);  // a second time
  ASSERT_EQ(model->compile(), 0);
  ASSERT_EQ(model->initialize(), 0);
  Samples samples{
      .inputs = {numbers(4 * 16, 1.0)}, .labels = {std::vector<float>(12, 0.0F)}, .count = 4};
  for (size_t i = 0; i < 4; ++i) samples.labels[0][i * 3 + i % 3] = 1.0F;
  model->setDataset(ml::train::DatasetModeType::MODE_TRAIN, dataset_of(samples));
  testing::internal::CaptureStdout();
  EXPECT_EQ(model->train(), 0);
  const std::string log = testing::internal::GetCapturedStdout();
  EXPECT_NE(log.find("#3/3 - Training Loss: "), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "weights.bin"));  // beside the INI file

  // What is saved is read back as the same network with the same weights.
  model->save(folder / "copy.ini", ModelFormat::MODEL_FORMAT_INI_WITH_BIN);
  EXPECT_THROW(model->save(folder / "copy.ini", ModelFormat::MODEL_FORMAT_INI),
               std::invalid_argument);
  auto copy = createModel();
  copy->load(folder / "copy.ini", ModelFormat::MODEL_FORMAT_INI_WITH_BIN);
  ASSERT_EQ(copy->compile(), 0);
  ASSERT_EQ(copy->initialize(), 0);
  std::vector<float> x = numbers(16, 3.0);
  const float* y = model->inference(1, {x.data()})[0];
  const std::vector<float> wanted(y, y + 3);
  const float* again = copy->inference(1, {x.data()})[0];
  for (size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ(again[i], wanted[i]);
}

TEST(ml_train_ini, reads_backbones_and_data_sets) {
  const TemporaryFolder folder;
  write(folder / "body.ini",
        "[Model]\ntype=NeuralNetwork\n[in]\ntype=input\ninput_shape=1:1:2\n"
        "[hidden]\ntype=fully_connected\nunit=3\n");
  write(folder / "train.dat", std::string(4 * 3 * 4, '\0'));
  write(folder / "m.ini",
        "[Model]\ntype=NeuralNetwork\nloss=mse\noptimizer=sgd\nlearning_rate=0.1\n"
        "[DataSet]\nTrainData=train.dat\nBufferSize=2\nLabelData=ignored\n"
        "[block]\nbackbone=body.ini\ntrainable=false\n[out]\ntype=fully_connected\nunit=1\n");
  auto model = createModel();
  ASSERT_EQ(model->loadFromConfig(folder / "m.ini"), 0);
  ASSERT_EQ(model->compile(), 0);
  ASSERT_EQ(model->initialize(), 0);
  std::shared_ptr<ml::train::Layer> hidden;
  ASSERT_EQ(model->getLayer("hidden", &hidden), 0);
  EXPECT_EQ(hidden->getProperty("trainable"), "false");
  testing::internal::CaptureStdout();
  EXPECT_EQ(model->train(), 0);
  static_cast<void>(testing::internal::GetCapturedStdout());
}

TEST(ml_train_ini, refuses_what_is_wrong_and_says_where) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "[Model] is missing"},
           {"[in]\ntype=input\ninput_shape=1:1:2\n", "[Model] is missing"},
           {"type = input\n", "line 1: expected a [section] first"},
           {"[Model]\ntype = NeuralNetwork\nepochs =\n", "line 3: expected key = value"},
           {"[Model]\nepochs\n", "line 2: expected key = value"},
           {"[Model\ntype=x\n", "line 1: expected [section]"},
           {"[Model]\n[a]\ntype=input\n", "the section [Model] has no keys"},
           {"[Model]\ntype=x\n[a]\nunit=2\n", "[a]: the key Type is missing"},
           {"[Model]\ntype=x\n[a]\ntype=fully_connected\nunits=2\n", "no such property"},
           {"[Model]\ntype=x\noptimizer=sgd\n[Optimizer]\ntype=adam\n", "two optimizers"},
           {"[Model]\ntype=x\n[b]\nbackbone=body.txt\n", "only INI, TensorFlow Lite and ONNX"},
           {"[Model]\ntype=x\n[b]\nbackbone=none.ini\n", "cannot be read"},
           {"[Model]\ntype=x\n[train_set]\ntype=file\npath=none.dat\n", "cannot be read"},
           {"[Model]\ntype=x\n[train_set]\ntype=file\npath=/\n", "cannot be read"}}) {
    EXPECT_NE(read_error(text).find(message), std::string::npos) << text << read_error(text);
  }
  const TemporaryFolder folder;
  write(folder / "m.ini", "[Model]\ntype=x\ncolour=red\n");
  auto model = createModel();
  testing::internal::CaptureStderr();
  EXPECT_EQ(model->loadFromConfig(folder / "m.ini"), -22);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("colour=red: no such property"),
            std::string::npos);
}

TEST(ml_train_ini, reads_the_examples) {
  for (const auto& [name, inputs, labels] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"vae", "1:28:28", "1:28:28"},
           {"unet", "3:32:32", "32:32:4"},
           {"resnet18", "3:32:32", "1:1:10"}}) {
    auto model = createModel();
    const std::string path =
        std::string(THIMBLE_SOURCE_DIR) + "/examples/ml_train/" + name + ".ini";
    ASSERT_EQ(model->loadFromConfig(path), 0) << name;
    ASSERT_EQ(model->compile(), 0) << name;
    ASSERT_EQ(model->initialize(), 0) << name;
    const auto sample = [](ml::train::TensorDim dim) {
      dim.batch(1);
      return dim;
    };
    EXPECT_EQ(sample(model->getInputDimension().at(0)), ml::train::TensorDim(inputs)) << name;
    EXPECT_EQ(sample(model->getOutputDimension().at(0)), ml::train::TensorDim(labels)) << name;
  }
}

// Few lines that name the next file many times would be millions of layers.
TEST(ml_train_ini, refuses_backbones_that_multiply) {
  const TemporaryFolder folder;
  write(folder / "0.ini", "[in]\ntype=input\ninput_shape=1\n");
  for (int depth = 1; depth <= 4; ++depth) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "[b]\nbackbone=" + std::to_string(depth - 1) + ".ini\n";
    write(folder / (std::to_string(depth) + ".ini"), text);
  }
  const std::string error = message_of([&] {
    static_cast<void>(
        ml_train::read_ini_model("[Model]\ntype=x\n[b]\nbackbone=4.ini\n", "m.ini", folder.path()));
  });
  EXPECT_NE(error.find("more than 65536 layers"), std::string::npos) << error;
}

TEST(ml_train_reference_layers, unroll_a_cell_as_the_recurrent_layer_does) {
  const auto make = [](bool unrolled) {
    auto model = createModel(ModelType::NEURAL_NET, {"loss=mse", "threads=1"});
    model->addLayer(createLayer("input", {"name=x", "input_shape=1:3:4"}));
    if (unrolled) {
      model->addLayer(createLayer("input", {"name=h", "input_shape=1:1:2"}));
      model->addWithReferenceLayers(
          {createLayer("rnncell", {"name=cell", "unit=2", "input_layers=x,h"})}, "net", {"x", "h"},
          {"cell"}, {"cell"}, ml::train::ReferenceLayersType::RECURRENT,
          {"unroll_for=3", "recurrent_input=cell(1)", "recurrent_output=cell",
           "input_is_sequence=x", "as_sequence=cell"});
    } else {
      model->addLayer(createLayer("rnn", {"name=cell", "unit=2", "return_sequences=true"}));
    }
    model->setProperty({unrolled ? "input_layers=x,h" : "input_layers=x"});
    model->setOptimizer(createOptimizer("sgd"));
    EXPECT_EQ(model->compile(), 0);
    EXPECT_EQ(model->initialize(), 0);
    return model;
  };
  auto layer = make(false);
  auto steps = make(true);
  std::shared_ptr<ml::train::Layer> from;
  std::shared_ptr<ml::train::Layer> to;
  ASSERT_EQ(layer->getLayer("cell", &from), 0);
  ASSERT_EQ(steps->getLayer("net/cell/0", &to), 0);
  to->setWeights(from->getWeights());
  std::vector<float> x = numbers(12, 1.0);
  std::vector<float> h(2, 0.0F);
  const float* a = layer->inference(1, {x.data()})[0];
  const float* b = steps->inference(1, {x.data(), h.data()})[0];
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(ml_train_reference_layers, copy_a_backbone) {
  auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
  model->addLayer(createLayer("input", {"name=x", "input_shape=1:1:4"}));
  model->addWithReferenceLayers({createLayer("fully_connected", {"name=a", "unit=3"}),
                                 createLayer("fully_connected", {"name=b", "unit=2"}),
                                 createLayer("fully_connected", {"name=c", "unit=1"})},
                                "left", {"x"}, {"a"}, {"b"},
                                ml::train::ReferenceLayersType::BACKBONE);
  model->setOptimizer(createOptimizer("sgd"));
  ASSERT_EQ(model->compile(), 0);
  ASSERT_EQ(model->initialize(), 0);
  EXPECT_EQ(model->getOutputDimension()[0].width(), 2U);
  std::shared_ptr<ml::train::Layer> layer;
  EXPECT_EQ(model->getLayer("left/a", &layer), 0);
  EXPECT_THROW(model->getLayer("left/c", &layer), std::out_of_range);
}

}  // namespace
}  // namespace thimble::test::ml_train_test
