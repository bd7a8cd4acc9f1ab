// Multilayer perceptron 784-512-512-10 for 28x28 images.
#include <thimble/ops.h>

#include "recipes/digits_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

Graph build() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  const Value digit = g.label("digit");
  Value x = relu(dense(flatten(image), {.units = 512, .name = "dense1"}));
  x = relu(dense(x, {.units = 512, .name = "dense2"}));
  const Value logits = dense(x, {.units = 10, .name = "dense3"});
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  g.output("logits", logits);
  return g;
}

}  // namespace

const Recipe mlp{
    .name = "mlp",
    .doc = "multilayer perceptron 784-512-512-10, a classifier of 28x28 images",
    .build = build,
    .data = digits_data,
    .data_doc = kDigitsDoc,
    .built_in_name = kDigitsBuiltInName,
    .real_name = kDigitsRealName,
    .batch = 64,
    .epochs = 10,
    .optimizer = []() -> Optimizer { return Adam{.lr = 1e-3}; },
};

}  // namespace thimble::models
