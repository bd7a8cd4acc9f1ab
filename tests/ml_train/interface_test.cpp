// Names and numbers of the interface that applications rely on.
#include <gtest/gtest.h>
#include <model.h>
#include <nntrainer_error.h>
#include <profiler.h>

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace thimble::test::ml_train_interface_test {
namespace {

using namespace ml::train;

static_assert(static_cast<int>(ModelType::NEURAL_NET) == 1);
static_assert(static_cast<int>(ModelFormat::MODEL_FORMAT_QNN) == 5);
static_assert(static_cast<int>(ExecutionMode::VALIDATE) == 2);
static_assert(static_cast<int>(ExportMethods::METHOD_UNDEFINED) == 999);
static_assert(static_cast<int>(ReferenceLayersType::RECURRENT) == 1);
static_assert(static_cast<int>(DatasetType::UNKNOWN) == 3);
static_assert(static_cast<int>(DatasetModeType::MODE_UNKNOWN) == 3);
static_assert(ADAM == 0 && SGD == 1 && ADAMW == 2 && UNKNOWN == 999);
static_assert(CONSTANT == 0 && EXPONENTIAL == 1 && STEP == 2 && COSINE == 3);
static_assert(CPU == 0 && GPU == 1 && QNN == 2);
static_assert(ML_ERROR_INVALID_PARAMETER == -22 && ML_ERROR_NOT_SUPPORTED == -1073741822);

TEST(ml_train_interface, makes_every_type_by_its_number) {
  const std::vector<std::pair<int, std::string>> types = {{0, "input"},
                                                          {1, "fully_connected"},
                                                          {2, "batch_normalization"},
                                                          {3, "conv2d"},
                                                          {4, "pooling2d"},
                                                          {5, "flatten"},
                                                          {6, "activation"},
                                                          {7, "addition"},
                                                          {8, "concat"},
                                                          {9, "multiout"},
                                                          {10, "embedding"},
                                                          {11, "rnn"},
                                                          {12, "lstm"},
                                                          {13, "split"},
                                                          {14, "gru"},
                                                          {15, "permute"},
                                                          {16, "dropout"},
                                                          {19, "conv1d"},
                                                          {20, "lstmcell"},
                                                          {21, "grucell"},
                                                          {22, "rnncell"},
                                                          {23, "zoneout_lstmcell"},
                                                          {24, "attention"},
                                                          {26, "multi_head_attention"},
                                                          {27, "layer_normalization"},
                                                          {28, "positional_encoding"},
                                                          {29, "identity"},
                                                          {30, "swiglu"},
                                                          {31, "weight"},
                                                          {32, "add"},
                                                          {33, "subtract"},
                                                          {34, "multiply"},
                                                          {35, "divide"},
                                                          {36, "transpose"},
                                                          {37, "conv2dtranspose"},
                                                          {38, "pow"},
                                                          {40, "sqrt"},
                                                          {41, "sin"},
                                                          {42, "cos"},
                                                          {43, "tan"},
                                                          {44, "matmul"},
                                                          {45, "channel_shuffle"},
                                                          {46, "negative"},
                                                          {47, "gather"},
                                                          {48, "reduce_sum"},
                                                          {49, "slice"},
                                                          {50, "cast"},
                                                          {51, "reduce_mean"},
                                                          {52, "reshape"},
                                                          {53, "upsample2d"},
                                                          {18, "centroid_knn"},
                                                          {25, "mol_attention"},
                                                          {39, "tensor"},
                                                          {300, "preprocess_flip"},
                                                          {301, "preprocess_translate"},
                                                          {302, "preprocess_l2norm"},
                                                          {500, "mse"},
                                                          {501, "cross_sigmoid"},
                                                          {502, "cross_softmax"},
                                                          {503, "rmsnorm"},
                                                          {10001, "backbone_tflite"},
                                                          {10002, "constant_derivative"}};
  for (const auto& [number, type] : types)
    EXPECT_EQ(createLayer(static_cast<LayerType>(number))->getType(), type);
  for (const int number : {17, 10000}) {
    EXPECT_THROW(createLayer(static_cast<LayerType>(number)), nntrainer::exception::not_supported)
        << number;
  }
  EXPECT_THROW(createLayer(LAYER_UNKNOWN), std::invalid_argument);
}

TEST(ml_train_interface, has_dimensions) {
  EXPECT_EQ(TensorDim({2, 3}), TensorDim(1, 1, 2, 3));
  EXPECT_EQ(TensorDim("3:28:29"), TensorDim(3, 28, 29));
  EXPECT_THROW(TensorDim("3:x"), std::invalid_argument);
  TensorDim dim(2, 3, 4, 5);
  EXPECT_EQ(dim.getDataLen(), 120U);
  EXPECT_EQ(dim.getFeatureLen(), 60U);
  EXPECT_EQ(dim.transpose("2:0:1"), TensorDim(2, 5, 3, 4));
  EXPECT_EQ(dim.computeStrides(), (std::array<size_t, 4>{60, 20, 5, 1}));
  EXPECT_EQ(dim.rank(), 4U);
  EXPECT_EQ(TensorDim(7).rank(), 1U);
  dim.width(6);
  EXPECT_EQ(dim[3], 6U);
  EXPECT_EQ(dim.setTensorDim("1:2"), 0);
  EXPECT_EQ(dim.setTensorDim("1:2:3:4:5"), ML_ERROR_INVALID_PARAMETER);
  std::ostringstream text;
  text << TensorDim(3, 28, 28);
  EXPECT_EQ(text.str(), "Shape: 1:3:28:28 [ FP32 : NCHW ]\n");
}

TEST(ml_train_interface, gives_properties_as_text) {
  auto layer = layer::Convolution2D({"filters=2", "KERNEL_SIZE = 3, 4", "name=Conv/1"});
  EXPECT_EQ(layer->getProperty("kernel_size"), "3,4");
  EXPECT_EQ(layer->getProperty("name"), "conv/1");
  EXPECT_EQ(layer->getProperty("shared_from"), "empty");
  EXPECT_EQ(layer->getName(), "");
  EXPECT_THROW(static_cast<void>(layer->getWeights()), std::runtime_error);
  EXPECT_EQ(layer::ReLU()->getProperty("activation"), "relu");
  EXPECT_EQ(createOptimizer("AdamW")->getType(), "adamw");
  EXPECT_EQ(createLearningRateScheduler("Cosine")->getType(), "cosine");
  EXPECT_THROW(createOptimizer("rmsprop", {"momentum=1"}), std::invalid_argument);
}

// Two rules for the learning rate, or two names of one setting.
TEST(ml_train_interface, refuses_contradictions) {
  const auto initialized = [](std::shared_ptr<ml::train::Optimizer> optimizer) {
    auto model = createModel(ModelType::NEURAL_NET, {"loss=mse"});
    model->addLayer(layer::Input({"input_shape=1:1:2"}));
    model->addLayer(layer::FullyConnected({"unit=1"}));
    model->setOptimizer(std::move(optimizer));
    model->compile();
    return model->initialize();
  };
  std::shared_ptr<ml::train::Optimizer> both =
      createOptimizer("sgd", {"decay_rate=0.5", "decay_steps=3"});
  both->setLearningRateScheduler(createLearningRateScheduler("constant", {"learning_rate=1"}));
  EXPECT_THROW(initialized(both), std::invalid_argument);
  EXPECT_THROW(initialized(createOptimizer("sgd", {"decay_rate=0.5"})), std::invalid_argument);
  std::shared_ptr<ml::train::Optimizer> wrong = createOptimizer("sgd");
  wrong->setLearningRateScheduler(createLearningRateScheduler(
      "linear", {"max_learning_rate=0.1", "min_learning_rate=0.2", "decay_steps=3"}));
  EXPECT_THROW(initialized(wrong), std::invalid_argument);
  wrong->setLearningRateScheduler(createLearningRateScheduler("cosine"));
  EXPECT_THROW(initialized(wrong), std::invalid_argument);  // its keys are missing
}

}  // namespace
}  // namespace thimble::test::ml_train_interface_test
