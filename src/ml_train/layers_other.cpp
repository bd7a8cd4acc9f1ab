// Tensors as sources, random changes of images, models of other programs, and types that are not
// offered.
#include <layer.h>
#include <thimble/adapt.h>
#include <thimble/import.h>
#include <thimble/insert.h>
#include <thimble/ops/add.h>
#include <thimble/ops/by_phase.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/concat.h>
#include <thimble/ops/dequantize.h>
#include <thimble/ops/flip.h>
#include <thimble/ops/grid_sample.h>
#include <thimble/ops/random_uniform.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/where.h>

#include <algorithm>
#include <cmath>

#include "ml_train/build.h"

namespace thimble::ml_train {
namespace {

using namespace ml::train;

constexpr Property kWeight[] = {
    {"dim", Kind::shape, nullptr, "", 0, true},
    {"tensor_dtype", Kind::choice, "fp32", "fp32 fp16", 0, false, "weights are FP32"},
    {"weight_name", Kind::name, nullptr, "", 0, true},
};

// One tensor for all samples.
void build_weight(LayerBuild& b) {
  b.require_inputs(0, 0);
  const std::vector<int64_t> d = b.props.shapes("dim").front();
  b.require(d[0] == 1, "dim has a batch of 1: a weight is one for all samples");
  const Value weight = b.weight({.name = b.props.choice("weight_name"),
                                 .dims = {1, d[1], d[2], d[3]},
                                 .shape = {1, d[1], d[2], d[3]}});
  b.put_plain(weight, {d[1], d[2], d[3]});
}

constexpr Property kTensor[] = {
    {"dim", Kind::shapes, nullptr, "", 0, true},
    {"tensor_dtype", Kind::names},
    {"tensor_name", Kind::names, nullptr, "", 0, true},
    {"tensor_life", Kind::names},  // the memory plan finds it
};

// Copies of the inputs, one for each of `dim`; without inputs they are 0.
void build_tensor(LayerBuild& b) {
  const std::vector<std::vector<int64_t>> dims = b.props.shapes("dim");
  b.require(b.inputs() == 0 || b.inputs() == static_cast<int>(dims.size()),
            "has " + std::to_string(b.inputs()) + " inputs, and dim has " +
                std::to_string(dims.size()) + " shapes");
  b.require(b.props.names("tensor_name").size() == dims.size(),
            "tensor_name needs a name for each of dim");
  for (const std::string& dtype : b.props.names("tensor_dtype"))
    b.require(dtype == "fp32", "tensor_dtype=" + dtype + ": tensors are FP32");
  for (size_t i = 0; i < dims.size(); ++i) {
    const Dim dim{dims[i][1], dims[i][2], dims[i][3]};
    if (b.inputs() > 0) {
      const auto from = static_cast<int>(i);
      b.require(b.dim(from) == dim,
                "dim says " + to_string(dim) + ", and its input is " + to_string(b.dim(from)));
      b.pass(from);
      continue;
    }
    b.require(dim.elements() <= kMostElements, "dim " + to_string(dim) + " is too large");
    const Shape shape{1, dim.c, dim.h, dim.w};
    b.put_plain(b.graph().constant(b.name() + ":" + std::to_string(i), shape,
                                   std::vector<float>(static_cast<size_t>(dim.elements()), 0.0F)),
                dim);
  }
}

constexpr Property kFlip[] = {{"flip_direction", Kind::choice, "horizontal_and_vertical",
                               "horizontal vertical horizontal_and_vertical"}};

// One element of each sample: [N, 1, 1, 1].
Value one_of(Value x) { return slice(slice(slice(x, 1, 0, 1), 2, 0, 1), 3, 0, 1); }

// Half of the samples mirrored along an axis, in training.
Value mirrored(Value x, int64_t axis, Value half) {
  const Value one = one_of(x);
  const Value changed = where(lt(random_uniform(one), half), flip(x, {.axes = {axis}}), x);
  return by_phase(changed, x);
}

void build_flip(LayerBuild& b) {
  const std::string direction = b.props.choice("flip_direction");
  const Value half = b.graph().constant(b.name() + ":half", Shape{}, {0.5F});
  for (int i = 0; i < b.inputs(); ++i) {
    Value x = b.plain(i);
    if (direction != "vertical") x = mirrored(x, 3, half);
    if (direction != "horizontal") x = mirrored(x, 2, half);
    b.put_plain(x, b.dim(i));
  }
}

constexpr Property kTranslate[] = {{"random_translate", Kind::real, "0"}};

// In training every image moves by up to that share of its width and height, and between pixels is
// interpolated; what comes in from outside is the image mirrored at its border.
void build_translate(LayerBuild& b) {
  const double most = std::abs(b.props.real("random_translate"));
  b.require(most <= 1.0, "random_translate is a share of the image, up to 1");
  for (int i = 0; i < b.inputs(); ++i) {
    if (most == 0.0) {
      b.pass(i);
      continue;
    }
    const Dim dim = b.dim(i);
    const Value x = b.image(i);
    // The centres of all pixels, where the image covers [-1, 1].
    std::vector<float> centres;
    for (int64_t row = 0; row < dim.h; ++row) {
      for (int64_t column = 0; column < dim.w; ++column) {
        centres.push_back(static_cast<float>(
            (2.0 * static_cast<double>(column) + 1.0) / static_cast<double>(dim.w) - 1.0));
        centres.push_back(static_cast<float>(
            (2.0 * static_cast<double>(row) + 1.0) / static_cast<double>(dim.h) - 1.0));
      }
    }
    const Value grid = b.graph().constant(b.name() + ":centres" + std::to_string(i),
                                          {1, dim.h, dim.w, 2}, centres);
    const RandomUniformOptions range{.low = -2.0 * most, .high = 2.0 * most};
    const Value move = concat({random_uniform(one_of(x), range), random_uniform(one_of(x), range)});
    const Value moved = grid_sample(x, add(grid, move), {.padding = GridPadding::reflection});
    b.put_image(by_phase(moved, x), dim);
  }
}

constexpr Property kBackbone[] = {{"model_path", Kind::text, nullptr, "", 0, true}};

// A model of another program, whose weights are not trained.
void build_backbone(LayerBuild& b) {
  const Graph model = adapt(import_model(b.props.choice("model_path")), {.f32_inputs = true});
  const std::vector<ModelInput> wanted = model_inputs(model);
  b.require_inputs(static_cast<int>(wanted.size()), static_cast<int>(wanted.size()));
  std::vector<Value> inputs;
  for (int i = 0; i < b.inputs(); ++i) {
    const ModelInput& input = wanted[static_cast<size_t>(i)];
    const Dim in = b.dim(i);
    b.require(in == dim_of_sample(input.sample), "the model's input " + input.name + " is " +
                                                     to_string(dim_of_sample(input.sample)) +
                                                     ", got " + to_string(in));
    std::vector<int64_t> shape{-1};
    for (int axis = 0; axis < input.sample.rank(); ++axis) shape.push_back(input.sample[axis]);
    inputs.push_back(cast(reshape(b.image(i), Shape(shape)), input.dtype));
  }
  for (auto [name, y] : insert_model(b.graph(), model, inputs, b.name())) {
    if (y.quantization() != nullptr) y = dequantize(y);
    const std::vector<int64_t> shape = y.shape().dims();
    b.require(!shape.empty() && shape[0] == inputs.front().shape()[0],
              "the model's output " + name + " has no batch in front");
    const Dim dim = dim_of_sample(Shape(std::vector<int64_t>(shape.begin() + 1, shape.end())));
    b.put_image(reshape(cast(y, DType::f32), {-1, dim.h, dim.w, dim.c}), dim);
  }
}

}  // namespace

void add_other_layers(std::vector<LayerKind>& kinds) {
  kinds.push_back({"weight", LAYER_WEIGHT, {kWeight, weight_properties()}, build_weight});
  kinds.push_back({"tensor", LAYER_TENSOR, {kTensor}, build_tensor});
  kinds.push_back({"preprocess_flip", LAYER_PREPROCESS_FLIP, {kFlip}, build_flip});
  kinds.push_back(
      {"preprocess_translate", LAYER_PREPROCESS_TRANSLATE, {kTranslate}, build_translate});
  for (const auto& [type, number] :
       {std::pair("backbone_tflite", static_cast<int>(LAYER_BACKBONE_TFLITE)),
        std::pair("backbone_onnx", -3)})
    kinds.push_back({type, number, {kBackbone}, build_backbone});
  const auto refuse = [&](const char* type, int number, const char* why) {
    LayerKind kind{type, number, {}, {}};
    kind.refused = why;
    kinds.push_back(std::move(kind));
  };
  refuse("time_dist", LAYER_TIME_DIST, "is made by distribute=true of the layer that it repeats");
  refuse("backbone_nnstreamer", LAYER_BACKBONE_NNSTREAMER, "NNStreamer's models cannot be read");
}

}  // namespace thimble::ml_train
