// ResNet-18 for images of 32x32 pixels: the first convolution has a window of 3x3 and no max
// pooling follows. He et al., "Deep residual learning for image recognition", 2016. Layers have the
// names of torchvision's model.
#include <thimble/ops.h>

#include "recipes/photos_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

constexpr int64_t kSide = 32;
constexpr int64_t kClasses = 10;
// He et al. 2015, the form that keeps the size of gradients.
constexpr Initializer kInit{
    .kind = Initializer::Kind::variance_normal, .a = 2.0, .fan = Initializer::Fan::out};
constexpr int64_t kBlocks = 2;  // a stage

Value conv(Value x, int64_t channels, int64_t kernel, int64_t stride, const std::string& name) {
  return conv2d(x, {.channels = channels,
                    .kernel = kernel,
                    .stride = stride,
                    .padding = kernel / 2,
                    .bias = false,
                    .weight_init = kInit,
                    .name = name});
}

Value block(Value x, int64_t channels, int64_t stride, const std::string& name) {
  Value y = conv(x, channels, 3, stride, name + ".conv1");
  y = relu(batch_norm(y, {.name = name + ".bn1"}));
  y = conv(y, channels, 3, 1, name + ".conv2");
  y = batch_norm(y, {.name = name + ".bn2"});
  if (stride != 1 || x.shape()[-1] != channels) {
    x = conv(x, channels, 1, stride, name + ".downsample.0");
    x = batch_norm(x, {.name = name + ".downsample.1"});
  }
  return relu(y + x);
}

Graph build() {
  Graph g;
  const Value image = g.input("image", {kSide, kSide, 3});
  const Value label = g.label("label");
  Value x = relu(batch_norm(conv(image, 64, 3, 1, "conv1"), {.name = "bn1"}));
  int64_t channels = 64;
  for (int stage = 1; stage <= 4; ++stage, channels *= 2) {
    for (int64_t i = 0; i < kBlocks; ++i) {
      const int64_t stride = stage > 1 && i == 0 ? 2 : 1;
      x = block(x, channels, stride, "layer" + std::to_string(stage) + "." + std::to_string(i));
    }
  }
  x = flatten(adaptive_average_pool2d(x));
  const Value logits = dense(x, {.units = kClasses, .name = "fc"});
  g.minimize(softmax_cross_entropy(logits, label));
  g.metric("accuracy", accuracy(logits, label));
  g.output("logits", logits);
  return g;
}

data::Dataset data_of(const std::string& path, data::Split split) {
  if (path.empty()) return built_in_photos(split, kSide);
  const data::Dataset photos = data::cifar10(path, split);
  return split == data::Split::train ? data::augmented(photos) : photos;
}

}  // namespace

const Recipe resnet18{
    .name = "resnet18",
    .doc = "ResNet-18 in its form for CIFAR-10, a classifier of 32x32 colour images",
    .build = build,
    .data = data_of,
    .data_doc = kPhotosDoc,
    .built_in_name = kPhotosBuiltInName,
    .real_name = kPhotosRealName,
    .batch = 32,
    .epochs = 4,
    .optimizer = []() -> Optimizer {
      return SGD{.lr = 0.02, .momentum = 0.9, .nesterov = true, .weight_decay = 5e-4};
    },
    .schedule = photos_schedule,
};

}  // namespace thimble::models
