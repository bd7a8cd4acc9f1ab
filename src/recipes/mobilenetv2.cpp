// MobileNetV2 of width 0.35 for images of 96x96 pixels. Sandler et al., "MobileNetV2: inverted
// residuals and linear bottlenecks", 2018. Layers have the names of torchvision's model.
#include <thimble/ops.h>

#include <algorithm>

#include "recipes/photos_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

constexpr int64_t kSide = 96;
constexpr int64_t kClasses = 10;
// He et al. 2015, the form that keeps the size of gradients.
constexpr Initializer kInit{
    .kind = Initializer::Kind::variance_normal, .a = 2.0, .fan = Initializer::Fan::out};
constexpr int64_t kLastChannels = 1280;  // not made narrower

// Channels at this width: a multiple of 8, and no more than a tenth below what was asked for.
int64_t scaled(int64_t channels) {
  const int64_t wanted = channels * 35;  // in hundredths
  const int64_t rounded = std::max<int64_t>(8, (wanted + 400) / 800 * 8);
  return 1000 * rounded < 9 * wanted ? rounded + 8 : rounded;
}

struct ConvSettings {
  int64_t channels;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
};

// A convolution and its batch norm. next: the name of the norm.
Value conv(Value x, const ConvSettings& s, const std::string& name, const std::string& next) {
  x = conv2d(x, {.channels = s.channels,
                 .kernel = s.kernel,
                 .stride = s.stride,
                 .padding = s.kernel / 2,
                 .groups = s.groups,
                 .bias = false,
                 .weight_init = kInit,
                 .name = name});
  return batch_norm(x, {.name = next});
}

Value conv_relu6(Value x, const ConvSettings& s, const std::string& name) {
  return relu6(conv(x, s, name + ".0", name + ".1"));
}

// Inverted residual block: expand, depthwise convolution, project; the input is added if shapes are
// equal.
Value inverted_residual(Value x, int64_t channels, int64_t expansion, int64_t stride,
                        const std::string& name) {
  const int64_t hidden = x.shape()[-1] * expansion;
  int part = 0;
  const auto next = [&] { return name + ".conv." + std::to_string(part++); };
  Value y = x;
  if (expansion != 1) y = conv_relu6(y, {.channels = hidden}, next());
  y = conv_relu6(y, {.channels = hidden, .kernel = 3, .stride = stride, .groups = hidden}, next());
  const std::string project = next();
  y = conv(y, {.channels = channels}, project, next());
  return y.shape() == x.shape() ? x + y : y;
}

Value features(Value x) {
  struct Stage {
    int64_t expansion;
    int64_t channels;
    int64_t blocks;
    int64_t stride;  // of the first block
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  int number = 0;
  const auto next = [&] { return "features." + std::to_string(number++); };
  x = conv_relu6(x, {.channels = scaled(32), .kernel = 3, .stride = 2}, next());
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = inverted_residual(x, scaled(stage.channels), stage.expansion, i == 0 ? stage.stride : 1,
                            next());
    }
  }
  return conv_relu6(x, {.channels = kLastChannels}, next());
}

Graph build() {
  Graph g;
  const Value image = g.input("image", {kSide, kSide, 3});
  const Value label = g.label("label");
  const Value x = dropout(flatten(adaptive_average_pool2d(features(image))), {.p = 0.2});
  const Value logits = dense(x, {.units = kClasses,
                                 .weight_init = init::normal(0.0, 0.01),
                                 .bias_init = init::zeros(),
                                 .name = "classifier.1"});
  g.minimize(softmax_cross_entropy(logits, label));
  g.metric("accuracy", accuracy(logits, label));
  g.output("logits", logits);
  return g;
}

data::Dataset data_of(const std::string& path, data::Split split) {
  if (path.empty()) return built_in_photos(split, kSide);
  return data::resized(data::cifar10(path, split), kSide, kSide);
}

}  // namespace

const Recipe mobilenetv2{
    .name = "mobilenetv2",
    .doc = "MobileNetV2 of width 0.35, a classifier of 96x96 colour images",
    .build = build,
    .data = data_of,
    .data_doc = kPhotosDoc,
    .built_in_name = kPhotosBuiltInName,
    .real_name = kPhotosRealName,
    .batch = 8,
    .epochs = 12,
    .optimizer = []() -> Optimizer { return AdamW{.lr = 5e-3, .weight_decay = 0.01}; },
    .schedule = photos_schedule,
};

}  // namespace thimble::models
