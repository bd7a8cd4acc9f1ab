// Layers of a model.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <common.h>
#include <tensor_dim.h>

namespace ml::train {

enum LayerType {
  LAYER_IN = ML_TRAIN_LAYER_TYPE_INPUT,
  LAYER_FC = ML_TRAIN_LAYER_TYPE_FC,
  LAYER_BN = ML_TRAIN_LAYER_TYPE_BN,
  LAYER_CONV2D = ML_TRAIN_LAYER_TYPE_CONV2D,
  LAYER_POOLING2D = ML_TRAIN_LAYER_TYPE_POOLING2D,
  LAYER_FLATTEN = ML_TRAIN_LAYER_TYPE_FLATTEN,
  LAYER_ACTIVATION = ML_TRAIN_LAYER_TYPE_ACTIVATION,
  LAYER_ADDITION = ML_TRAIN_LAYER_TYPE_ADDITION,
  LAYER_CONCAT = ML_TRAIN_LAYER_TYPE_CONCAT,
  LAYER_MULTIOUT = ML_TRAIN_LAYER_TYPE_MULTIOUT,
  LAYER_EMBEDDING = ML_TRAIN_LAYER_TYPE_EMBEDDING,
  LAYER_RNN = ML_TRAIN_LAYER_TYPE_RNN,
  LAYER_LSTM = ML_TRAIN_LAYER_TYPE_LSTM,
  LAYER_SPLIT = ML_TRAIN_LAYER_TYPE_SPLIT,
  LAYER_GRU = ML_TRAIN_LAYER_TYPE_GRU,
  LAYER_PERMUTE = ML_TRAIN_LAYER_TYPE_PERMUTE,
  LAYER_DROPOUT = ML_TRAIN_LAYER_TYPE_DROPOUT,
  LAYER_BACKBONE_NNSTREAMER = ML_TRAIN_LAYER_TYPE_BACKBONE_NNSTREAMER,
  LAYER_CENTROID_KNN = ML_TRAIN_LAYER_TYPE_CENTROID_KNN,
  LAYER_CONV1D = ML_TRAIN_LAYER_TYPE_CONV1D,
  LAYER_LSTMCELL = ML_TRAIN_LAYER_TYPE_LSTMCELL,
  LAYER_GRUCELL = ML_TRAIN_LAYER_TYPE_GRUCELL,
  LAYER_RNNCELL = ML_TRAIN_LAYER_TYPE_RNNCELL,
  LAYER_ZONEOUT_LSTMCELL = ML_TRAIN_LAYER_TYPE_ZONEOUT_LSTMCELL,
  LAYER_ATTENTION = ML_TRAIN_LAYER_TYPE_ATTENTION,
  LAYER_MOL_ATTENTION = ML_TRAIN_LAYER_TYPE_MOL_ATTENTION,
  LAYER_MULTI_HEAD_ATTENTION = ML_TRAIN_LAYER_TYPE_MULTI_HEAD_ATTENTION,
  LAYER_LAYER_NORMALIZATION = ML_TRAIN_LAYER_TYPE_LAYER_NORMALIZATION,
  LAYER_POSITIONAL_ENCODING = ML_TRAIN_LAYER_TYPE_POSITIONAL_ENCODING,
  LAYER_IDENTITY = ML_TRAIN_LAYER_TYPE_IDENTITY,
  LAYER_SWIGLU = ML_TRAIN_LAYER_TYPE_SWIGLU,
  LAYER_WEIGHT = ML_TRAIN_LAYER_TYPE_WEIGHT,
  LAYER_ADD = ML_TRAIN_LAYER_TYPE_ADD,
  LAYER_SUBTRACT = ML_TRAIN_LAYER_TYPE_SUBTRACT,
  LAYER_MULTIPLY = ML_TRAIN_LAYER_TYPE_MULTIPLY,
  LAYER_DIVIDE = ML_TRAIN_LAYER_TYPE_DIVIDE,
  LAYER_TRANSPOSE = ML_TRAIN_LAYER_TYPE_TRANSPOSE,
  LAYER_CONV2D_TRANSPOSE = ML_TRAIN_LAYER_TYPE_CONV2D_TRANSPOSE,
  LAYER_POW = ML_TRAIN_LAYER_TYPE_POW,
  LAYER_TENSOR = ML_TRAIN_LAYER_TYPE_TENSOR,
  LAYER_SQRT = ML_TRAIN_LAYER_TYPE_SQRT,
  LAYER_SINE = ML_TRAIN_LAYER_TYPE_SINE,
  LAYER_COSINE = ML_TRAIN_LAYER_TYPE_COSINE,
  LAYER_TANGENT = ML_TRAIN_LAYER_TYPE_TANGENT,
  LAYER_MATMUL = ML_TRAIN_LAYER_TYPE_MATMUL,
  LAYER_CHANNEL_SHUFFLE = ML_TRAIN_LAYER_TYPE_CHANNEL_SHUFFLE,
  LAYER_NEG = ML_TRAIN_LAYER_TYPE_NEG,
  LAYER_GATHER = ML_TRAIN_LAYER_TYPE_GATHER,
  LAYER_REDUCE_SUM = ML_TRAIN_LAYER_TYPE_REDUCE_SUM,
  LAYER_SLICE = ML_TRAIN_LAYER_TYPE_SLICE,
  LAYER_CAST = ML_TRAIN_LAYER_TYPE_CAST,
  LAYER_REDUCE_MEAN = ML_TRAIN_LAYER_TYPE_REDUCE_MEAN,
  LAYER_RESHAPE = ML_TRAIN_LAYER_TYPE_RESHAPE,
  LAYER_UPSAMPLE2D = ML_TRAIN_LAYER_TYPE_UPSAMPLE2D,
  LAYER_PREPROCESS_FLIP = ML_TRAIN_LAYER_TYPE_PREPROCESS_FLIP,
  LAYER_PREPROCESS_TRANSLATE = ML_TRAIN_LAYER_TYPE_PREPROCESS_TRANSLATE,
  LAYER_PREPROCESS_L2NORM = ML_TRAIN_LAYER_TYPE_PREPROCESS_L2NORM,
  LAYER_LOSS_MSE = ML_TRAIN_LAYER_TYPE_LOSS_MSE,
  LAYER_LOSS_CROSS_ENTROPY_SIGMOID = ML_TRAIN_LAYER_TYPE_LOSS_CROSS_ENTROPY_SIGMOID,
  LAYER_LOSS_CROSS_ENTROPY_SOFTMAX = ML_TRAIN_LAYER_TYPE_LOSS_CROSS_ENTROPY_SOFTMAX,
  LAYER_RMSNORM = ML_TRAIN_LAYER_TYPE_RMSNORM,
  LAYER_UNKNOWN = ML_TRAIN_LAYER_TYPE_UNKNOWN,
  LAYER_TIME_DIST = 10000,
  LAYER_BACKBONE_TFLITE = 10001,
  LAYER_LOSS_CONSTANT_DERIVATIVE = 10002,
};

// One layer: its type, and properties as text. A model that it was added to gives it a name and,
// when the model is initialized, weights. Errors: std::invalid_argument naming the key or the value
// at fault.
class Layer {
 public:
  virtual ~Layer() = default;
  [[nodiscard]] virtual const std::string getType() const = 0;
  // Checks that the properties that the type requires are there.
  virtual void initialize() = 0;
  // "key=value" each; keys have no case. A key that is set again is replaced.
  virtual void setProperty(const std::vector<std::string>& values) = 0;
  // The value of a property as text, "empty" where it is not set.
  [[nodiscard]] virtual std::string getProperty(const std::string& key) = 0;
  // Empty until the layer was added to a model.
  [[nodiscard]] virtual const std::string getName() const noexcept = 0;

  // Weights in the order of the guide's table, float32, [batch, channel, height, width]. What is
  // written to this memory counts from the model's next call on; it holds the trained values after
  // train, and lives as long as the model. All throw std::runtime_error before initialize.
  [[nodiscard]] virtual const std::string getWeightName(unsigned int index) = 0;
  [[nodiscard]] virtual const std::vector<float*> getWeights() = 0;
  virtual void getWeights(std::vector<float*>& weights, std::vector<TensorDim>& dims) = 0;
  // Copies from memory of the same sizes. Throws std::runtime_error where the number is another.
  virtual void setWeights(const std::vector<float*> weights) = 0;
#ifdef ENABLE_FP16
  // Weights are float32: these throw std::invalid_argument. They are not virtual, so that a client
  // may define ENABLE_FP16 whatever the library was built with.
  [[nodiscard]] const std::vector<_FP16*> getFP16Weights() {
    throw std::invalid_argument("[" + getName() + "] weights are FP32: call getWeights");
  }
  void getFP16Weights(std::vector<_FP16*>& weights, std::vector<TensorDim>& /*dims*/) {
    weights = getFP16Weights();
  }
#endif
};

// Types have no case. All throw std::invalid_argument for an unknown type, key or value.
std::unique_ptr<Layer> createLayer(const LayerType& type,
                                   const std::vector<std::string>& properties = {});
std::unique_ptr<Layer> createLayer(const std::string& type,
                                   const std::vector<std::string>& properties = {});
// For classes of one's own, which a model refuses: it runs the types of the guide's table.
template <class T>
std::unique_ptr<Layer> createLayer(const std::vector<std::string>& properties = {}) {
  auto made = std::make_unique<T>();
  made->setProperty(properties);
  return made;
}

// createLayer by a function for every type.
#define THIMBLE_ML_TRAIN_LAYER(function, type)                                          \
  inline std::unique_ptr<Layer> function(const std::vector<std::string>& values = {}) { \
    return createLayer(type, values);                                                   \
  }

namespace layer {

THIMBLE_ML_TRAIN_LAYER(Input, "input")
THIMBLE_ML_TRAIN_LAYER(WeightLayer, "weight")
THIMBLE_ML_TRAIN_LAYER(AddLayer, "add")
THIMBLE_ML_TRAIN_LAYER(SubtractLayer, "subtract")
THIMBLE_ML_TRAIN_LAYER(MultiplyLayer, "multiply")
THIMBLE_ML_TRAIN_LAYER(DivideLayer, "divide")
THIMBLE_ML_TRAIN_LAYER(PowLayer, "pow")
THIMBLE_ML_TRAIN_LAYER(SQRTLayer, "sqrt")
THIMBLE_ML_TRAIN_LAYER(SineLayer, "sin")
THIMBLE_ML_TRAIN_LAYER(CosineLayer, "cos")
THIMBLE_ML_TRAIN_LAYER(TangentLayer, "tan")
THIMBLE_ML_TRAIN_LAYER(MatMulLayer, "matmul")
THIMBLE_ML_TRAIN_LAYER(CastLayer, "cast")
THIMBLE_ML_TRAIN_LAYER(GatherLayer, "gather")
THIMBLE_ML_TRAIN_LAYER(SliceLayer, "slice")
THIMBLE_ML_TRAIN_LAYER(NegativeLayer, "negative")
THIMBLE_ML_TRAIN_LAYER(FullyConnected, "fully_connected")
THIMBLE_ML_TRAIN_LAYER(Swiglu, "swiglu")
THIMBLE_ML_TRAIN_LAYER(Transpose, "transpose")
THIMBLE_ML_TRAIN_LAYER(ChannelShuffle, "channel_shuffle")
THIMBLE_ML_TRAIN_LAYER(BatchNormalization, "batch_normalization")
THIMBLE_ML_TRAIN_LAYER(LayerNormalization, "layer_normalization")
THIMBLE_ML_TRAIN_LAYER(Convolution2D, "conv2d")
THIMBLE_ML_TRAIN_LAYER(Convolution1D, "conv1d")
THIMBLE_ML_TRAIN_LAYER(Pooling2D, "pooling2d")
THIMBLE_ML_TRAIN_LAYER(Flatten, "flatten")
THIMBLE_ML_TRAIN_LAYER(Reshape, "reshape")
THIMBLE_ML_TRAIN_LAYER(Addition, "addition")
THIMBLE_ML_TRAIN_LAYER(Concat, "concat")
THIMBLE_ML_TRAIN_LAYER(MultiOut, "multiout")
THIMBLE_ML_TRAIN_LAYER(BackboneNNStreamer, "backbone_nnstreamer")
THIMBLE_ML_TRAIN_LAYER(BackboneTFLite, "backbone_tflite")
THIMBLE_ML_TRAIN_LAYER(Embedding, "embedding")
THIMBLE_ML_TRAIN_LAYER(RNN, "rnn")
THIMBLE_ML_TRAIN_LAYER(RNNCell, "rnncell")
THIMBLE_ML_TRAIN_LAYER(LSTM, "lstm")
THIMBLE_ML_TRAIN_LAYER(LSTMCell, "lstmcell")
THIMBLE_ML_TRAIN_LAYER(ZoneoutLSTMCell, "zoneout_lstmcell")
THIMBLE_ML_TRAIN_LAYER(GRU, "gru")
THIMBLE_ML_TRAIN_LAYER(GRUCell, "grucell")
THIMBLE_ML_TRAIN_LAYER(DropOut, "dropout")
THIMBLE_ML_TRAIN_LAYER(TimeDistLayer, "time_dist")
THIMBLE_ML_TRAIN_LAYER(CentroidKNN, "centroid_knn")
THIMBLE_ML_TRAIN_LAYER(Attention, "attention")
THIMBLE_ML_TRAIN_LAYER(MoLAttention, "mol_attention")
THIMBLE_ML_TRAIN_LAYER(MultiHeadAttention, "multi_head_attention")
THIMBLE_ML_TRAIN_LAYER(PositionalEncoding, "positional_encoding")
THIMBLE_ML_TRAIN_LAYER(Permute, "permute")
THIMBLE_ML_TRAIN_LAYER(ReduceMean, "reduce_mean")
THIMBLE_ML_TRAIN_LAYER(ReduceSum, "reduce_sum")
THIMBLE_ML_TRAIN_LAYER(Identity, "identity")
THIMBLE_ML_TRAIN_LAYER(Upsample2D, "upsample2d")

// act: the whole property, "activation=relu".
inline std::unique_ptr<Layer> Activation(const std::string& act,
                                         const std::vector<std::string>& values = {}) {
  std::vector<std::string> all = values;
  all.push_back(act);
  return createLayer("activation", all);
}

#define THIMBLE_ML_TRAIN_ACTIVATION(function, name)                                     \
  inline std::unique_ptr<Layer> function(const std::vector<std::string>& values = {}) { \
    return Activation("activation=" name, values);                                      \
  }
THIMBLE_ML_TRAIN_ACTIVATION(ReLU, "relu")
THIMBLE_ML_TRAIN_ACTIVATION(Swish, "swish")
THIMBLE_ML_TRAIN_ACTIVATION(GeLU, "gelu")
THIMBLE_ML_TRAIN_ACTIVATION(Tanh, "tanh")
THIMBLE_ML_TRAIN_ACTIVATION(Sigmoid, "sigmoid")
THIMBLE_ML_TRAIN_ACTIVATION(Softmax, "softmax")
THIMBLE_ML_TRAIN_ACTIVATION(ELU, "elu")
THIMBLE_ML_TRAIN_ACTIVATION(SELU, "selu")
THIMBLE_ML_TRAIN_ACTIVATION(Mish, "mish")
#undef THIMBLE_ML_TRAIN_ACTIVATION

}  // namespace layer

namespace loss {

THIMBLE_ML_TRAIN_LAYER(MSE, "mse")
THIMBLE_ML_TRAIN_LAYER(CrossEntropySigmoid, "cross_sigmoid")
THIMBLE_ML_TRAIN_LAYER(CrossEntropySoftmax, "cross_softmax")

}  // namespace loss
#undef THIMBLE_ML_TRAIN_LAYER

}  // namespace ml::train
