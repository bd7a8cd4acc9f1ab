#include <thimble/thimble.h>

#include <iostream>

namespace tb = thimble;
using namespace tb::literals;

int main() {
  tb::Graph g;
  auto image = g.input("image", {28, 28, 1});  // the batch is added when compiling
  auto digit = g.label("digit");
  auto h = tb::relu(tb::conv2d(image, {.channels = 8, .kernel = 3, .stride = 2, .padding = 1}));
  auto logits = tb::dense(tb::flatten(h), {.units = 10});
  g.minimize(tb::softmax_cross_entropy(logits, digit));
  g.metric("accuracy", tb::accuracy(logits, digit));

  tb::Trainer trainer(g, {.optimizer = tb::AdamW{.lr = 3e-3}, .batch = 32, .memory_budget = 2_MiB});
  std::cout << trainer.plan();  // the peak, where it is, and what it is made of
  trainer.fit(tb::data::digits(4000, /*seed=*/1), {.epochs = 3});

  auto test = trainer.evaluate(tb::data::digits(1000, /*seed=*/1, tb::data::Split::test));
  std::cout << "test accuracy " << test.metrics["accuracy"] << "\n";
  trainer.save("digits.safetensors");
}
