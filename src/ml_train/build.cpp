#include "ml_train/build.h"

#include <stdexcept>
#include <utility>

#include <thimble/ops/affine.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/elu.h>
#include <thimble/ops/embedding.h>
#include <thimble/ops/gelu.h>
#include <thimble/ops/leaky_relu.h>
#include <thimble/ops/mish.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/selu.h>
#include <thimble/ops/sigmoid.h>
#include <thimble/ops/softmax.h>
#include <thimble/ops/softplus.h>
#include <thimble/ops/square.h>
#include <thimble/ops/sum.h>
#include <thimble/ops/swish.h>
#include <thimble/ops/tanh.h>
#include <thimble/ops/transpose.h>

namespace thimble::ml_train {

std::string to_string(const Dim& dim) {
  return std::to_string(dim.c) + ":" + std::to_string(dim.h) + ":" + std::to_string(dim.w);
}

Dim dim_of_sample(const Shape& sample) {
  const std::vector<int64_t>& d = sample.dims();
  if (d.size() > 3) {
    throw std::invalid_argument("tensors " + thimble::to_string(sample) +
                                " of a model have more dimensions than channel:height:width");
  }
  if (d.size() == 3) return {d[2], d[0], d[1]};
  return {1, d.size() == 2 ? d[0] : 1, d.empty() ? 1 : d.back()};
}

TensorPtr Tensor::of_plain(Value value, const Dim& dim) {
  auto tensor = std::make_shared<Tensor>();
  tensor->dim_ = dim;
  tensor->plain_ = value;
  return tensor;
}

TensorPtr Tensor::of_image(Value value, const Dim& dim) {
  auto tensor = std::make_shared<Tensor>();
  tensor->dim_ = dim;
  tensor->image_ = value;
  return tensor;
}

Value Tensor::plain() {
  if (plain_) return plain_;
  const bool moves = dim_.c > 1 && dim_.h * dim_.w > 1;
  plain_ = moves ? transpose(image_, {0, 3, 1, 2}) : reshape(image_, {-1, dim_.c, dim_.h, dim_.w});
  return plain_;
}

Value Tensor::image() {
  if (image_) return image_;
  const bool moves = dim_.c > 1 && dim_.h * dim_.w > 1;
  image_ = moves ? transpose(plain_, {0, 2, 3, 1}) : reshape(plain_, {-1, dim_.h, dim_.w, dim_.c});
  return image_;
}

void LayerBuild::require(bool condition, const std::string& message) const {
  if (!condition) throw std::invalid_argument("[" + props.owner() + "] " + message);
}

void LayerBuild::require_inputs(int least, int most) const {
  require(inputs() >= least && inputs() <= most,
          "expected " +
              (least == most ? std::to_string(least)
                             : std::to_string(least) + " to " + std::to_string(most)) +
              " inputs, got " + std::to_string(inputs()));
}

int64_t LayerBuild::axis() const {
  const int64_t axis = props.count("axis");
  require(axis >= 1 && axis <= 3, "axis is 1 (channel) to 3 (width)");
  return axis;
}

void LayerBuild::put(TensorPtr tensor) {
  require(tensor->dim().elements() <= kMostElements,
          "gives " + to_string(tensor->dim()) + ", which is too large");
  outputs_.push_back(std::move(tensor));
}

Value LayerBuild::weight(const WeightSpec& spec) {
  const Dims& d = spec.dims;
  const Dim sizes{d[0] * d[1], d[2], d[3]};
  require(sizes.elements() <= kMostElements,
          "has a weight of " + std::to_string(d[0]) + ":" + std::to_string(d[1]) + ":" +
              std::to_string(d[2]) + ":" + std::to_string(d[3]) + ", which is too large");
  Weight made;
  made.name = weights_of_ + ":" + spec.name;
  made.dims = spec.dims;
  made.order = spec.order;
  made.swapped_gates = spec.swapped_gates;
  made.shape = spec.shape;
  made.initializer =
      spec.initializer[0] == '=' ? spec.initializer + 1 : props.choice(spec.initializer);
  made.is_statistic = spec.is_statistic;
  made.trainable = trainable_ && !spec.is_statistic && !spec.frozen;
  if (spec.decay != nullptr) made.decay = props.real(spec.decay);
  if (spec.regularizer != nullptr && props.choice(spec.regularizer) == "l2norm") {
    made.l2 = props.real("weight_regularizer_constant");
  }
  Weight& weight = shared_.weights->add(std::move(made));
  weights_.push_back(&weight);
  Value& parameter = shared_.parameters[weight.name];
  if (!parameter) {
    parameter = graph().parameter(weight.name, weight.shape, init::zeros());
    if (!weight.trainable) graph().freeze(weight.name);
    if (weight.l2 != 0.0 && weight.trainable && shared_.training) {
      add_loss(affine(sum(square(parameter)), {.scale = weight.l2 / 2.0}));
    }
  }
  return parameter;
}

int64_t LayerBuild::part_rows() {
  require(!inputs_.empty(), "has no inputs to distribute");
  const int64_t rows = dim().h;
  for (TensorPtr& input : inputs_) {
    const Dim in = input->dim();
    require(in.c == 1 && in.h == rows,
            "distribute needs inputs of one channel and of the same height, got " + to_string(in));
    input = Tensor::of_plain(reshape(input->plain(), {-1, 1, 1, in.w}), {1, 1, in.w});
  }
  return rows;
}

void LayerBuild::join_rows(int64_t rows) {
  for (TensorPtr& output : outputs_) {
    const Dim out = output->dim();
    require(out.c == 1 && out.h == 1, "distribute needs a row for every row, and the layer makes " +
                                          to_string(out) + " of it");
    output = Tensor::of_plain(reshape(output->plain(), {-1, 1, rows, out.w}), {1, rows, out.w});
  }
}

Value LayerBuild::behind_earlier(Value rows, const std::string& what) {
  const std::string name = name_ + ":" + what;
  const RowCache cache{name, rows.shape()[2], rows.shape()[3]};
  shared_.caches.push_back(cache);
  graph().output(name, rows);
  const int64_t before = shared_.rows->before;
  if (before == 0) return rows;
  const Value earlier = graph().input(name, {before, cache.heads, cache.width});
  return concat({earlier, rows}, {.axis = 1});
}

Value LayerBuild::at_positions(Value table) const { return embedding(shared_.positions, table); }

Value LayerBuild::label(const Dim& dim) {
  has_label_ = true;
  const std::string label = name_ + ":label";
  return shared_.labels[label] = graph().label(label, {dim.c, dim.h, dim.w}, DType::f32);
}

Value activated(Value x, const std::string& activation) {
  if (activation == "tanh") return tanh(x);
  if (activation == "sigmoid") return sigmoid(x);
  if (activation == "relu") return relu(x);
  if (activation == "swish") return swish(x);
  if (activation == "gelu") return gelu(x);
  if (activation == "tanh_gelu") return gelu(x, {.tanh_approximation = true});
  if (activation == "sigmoid_gelu") return mul(x, sigmoid(affine(x, {.scale = 1.702})));
  if (activation == "softmax") return softmax(x);
  if (activation == "softplus") return softplus(x);
  if (activation == "leaky_relu") return leaky_relu(x, {.slope = 0.01});
  if (activation == "elu") return elu(x);
  if (activation == "selu") return selu(x);
  if (activation == "mish") return mish(x);
  return x;
}

namespace {

constexpr const char* kCpuAlone = "only cpu is offered";
constexpr const char* kOneScale = "one scale is for the whole loss: set it on the model";
constexpr const char* kFloatAlone = "weights are FP32";

constexpr Property kCommon[] = {
    {"name", Kind::name},
    {"input_layers", Kind::connections},
    {"input_shape", Kind::shapes},
    {"trainable", Kind::boolean, "true"},
    {"activation", Kind::choice, nullptr, kActivations},
    {"flatten", Kind::boolean, "false"},
    {"shared_from", Kind::name},
    {"distribute", Kind::boolean, "false"},
    {"clip_grad_by_norm", Kind::real},
    {"weight_dtype", Kind::choice, "fp32", "fp32 fp16 q4_0 qint4 qint8", 0, false, kFloatAlone},
    {"packed", Kind::boolean, "true"},
    {"loss_scale", Kind::real, "1", "", 0, false, kOneScale},
    {"engine", Kind::choice, "cpu", "cpu gpu qnn", 0, false, kCpuAlone},
};

constexpr Property kWeights[] = {
    {"weight_initializer", Kind::choice, "xavier_uniform", kInitializers},
    {"bias_initializer", Kind::choice, "zeros", kInitializers},
    {"weight_regularizer", Kind::choice, "none", "none l2norm"},
    {"weight_regularizer_constant", Kind::real, "1"},
    {"weight_decay", Kind::real, "0"},
    {"bias_decay", Kind::real, "0"},
    {"disable_bias", Kind::boolean, "false"},
    {"print", Kind::boolean, "false"},
};

}  // namespace

std::span<const Property> common_properties() { return kCommon; }
std::span<const Property> weight_properties() { return kWeights; }

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kinds = [] {
    std::vector<LayerKind> made;
    add_basic_layers(made);
    add_convolution_layers(made);
    add_norm_layers(made);
    add_elementwise_layers(made);
    add_move_layers(made);
    add_loss_layers(made);
    add_recurrent_layers(made);
    add_attention_layers(made);
    add_mean_layers(made);
    add_other_layers(made);
    for (LayerKind& kind : made) kind.properties.emplace_back(common_properties());
    return made;
  }();
  return kinds;
}

const LayerKind* find_kind(const std::string& type) {
  const std::string name = lower(type);
  for (const LayerKind& kind : layer_kinds()) {
    if (name == kind.type) return &kind;
  }
  return nullptr;
}

}  // namespace thimble::ml_train
