// LeNet-5 for 28x28 images. LeCun et al., "Gradient-based learning applied to document
// recognition", 1998; with ReLU and max pooling, as it is usually trained today.
#include <thimble/ops.h>

#include "recipes/digits_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

Graph build() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  const Value digit = g.label("digit");
  Value x = relu(conv2d(image, {.channels = 6, .kernel = 5, .padding = 2, .name = "conv1"}));
  x = max_pool2d(x, {.kernel = 2});
  x = relu(conv2d(x, {.channels = 16, .kernel = 5, .name = "conv2"}));
  x = flatten(max_pool2d(x, {.kernel = 2}));
  x = relu(dense(x, {.units = 120, .name = "dense1"}));
  x = relu(dense(x, {.units = 84, .name = "dense2"}));
  const Value logits = dense(x, {.units = 10, .name = "dense3"});
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  g.output("logits", logits);
  return g;
}

constexpr TorchWeights::Flattened kFlattened[] = {{"dense1.weight", 1, 5, 5, 16}};

}  // namespace

const Recipe lenet5{
    .name = "lenet5",
    .doc = "LeNet-5, a convolutional classifier of 28x28 images",
    .build = build,
    .data = digits_data,
    .data_doc = kDigitsDoc,
    .built_in_name = kDigitsBuiltInName,
    .real_name = kDigitsRealName,
    .batch = 64,
    .epochs = 10,
    .optimizer = []() -> Optimizer { return Adam{.lr = 1e-3}; },
    .torch = {.flattened = kFlattened},
};

}  // namespace thimble::models
