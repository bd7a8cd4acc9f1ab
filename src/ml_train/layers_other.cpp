// Trainable tensors as sources, random changes of images, and types that are not offered.
#include <layer.h>
#include <thimble/ops/by_phase.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/flip.h>
#include <thimble/ops/random_uniform.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/where.h>

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
  const std::vector<int64_t> d = b.props.shapes("dim").front();
  b.require(d[0] == 1, "dim has a batch of 1: a weight is one for all samples");
  const Value weight = b.weight({.name = b.props.choice("weight_name"),
                                 .dims = {1, d[1], d[2], d[3]},
                                 .shape = {1, d[1], d[2], d[3]}});
  b.put_plain(weight, {d[1], d[2], d[3]});
}

constexpr Property kFlip[] = {{"flip_direction", Kind::choice, "horizontal_and_vertical",
                               "horizontal vertical horizontal_and_vertical"}};

// Half of the samples mirrored along an axis, in training.
Value mirrored(Value x, int64_t axis, Value half) {
  const Value one = slice(slice(slice(x, 1, 0, 1), 2, 0, 1), 3, 0, 1);
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

}  // namespace

void add_other_layers(std::vector<LayerKind>& kinds) {
  kinds.push_back({"weight", LAYER_WEIGHT, {kWeight, weight_properties()}, build_weight});
  kinds.push_back({"preprocess_flip", LAYER_PREPROCESS_FLIP, {kFlip}, build_flip});
  const auto refuse = [&](const char* type, int number, const char* why) {
    LayerKind kind{type, number, {}, {}};
    kind.refused = why;
    kinds.push_back(std::move(kind));
  };
  refuse("tensor", LAYER_TENSOR,
         "scratch tensors are not offered: the memory plan makes what a graph needs");
  refuse("preprocess_translate", LAYER_PREPROCESS_TRANSLATE,
         "is not offered: move the images where the generator makes them");
  refuse("centroid_knn", LAYER_CENTROID_KNN,
         "is not offered here: thimble's nearest_centroid learns classes without gradients");
  refuse("time_dist", LAYER_TIME_DIST, "is made by distribute=true of the layer that it repeats");
  refuse("backbone_tflite", LAYER_BACKBONE_TFLITE,
         "models of TensorFlow Lite are read by thimble import, not within a network");
  refuse("backbone_nnstreamer", LAYER_BACKBONE_NNSTREAMER, "NNStreamer's models cannot be read");
}

}  // namespace thimble::ml_train
