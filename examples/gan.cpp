// A generative adversarial network learns to draw digits, in about a minute on two cores.
// usage: example_gan [FILE.pgm] [EPOCHS]
#include <thimble/thimble.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace tb = thimble;

// From noise to images in 0 .. 1.
tb::Value generator(tb::Value noise) {
  auto h = tb::dense(noise, {.units = 7 * 7 * 32, .name = "generator.dense"});
  h = tb::reshape(h, {-1, 7, 7, 32});
  h = tb::relu(tb::batch_norm(h, {.name = "generator.norm_1"}));
  h = tb::conv_transpose2d(
      h, {.channels = 16, .kernel = 4, .stride = 2, .padding = 1, .name = "generator.up_1"});
  h = tb::relu(tb::batch_norm(h, {.name = "generator.norm_2"}));
  h = tb::conv_transpose2d(
      h, {.channels = 1, .kernel = 4, .stride = 2, .padding = 1, .name = "generator.up_2"});
  return tb::sigmoid(h);
}

// How real an image looks: one number, above 0 for real. Its weights serve every image it is
// called with.
class Discriminator {
 public:
  explicit Discriminator(tb::Graph& g)
      : first_(weights(g, "first", {16, 4, 4, 1})),
        second_(weights(g, "second", {32, 4, 4, 16})),
        last_(weights(g, "last", {1, 7 * 7 * 32})) {}

  [[nodiscard]] tb::Value operator()(tb::Value image) const {
    auto h = tb::conv2d(image, first_.weight, first_.bias, {.stride = 2, .padding = 1});
    h = tb::leaky_relu(h, {.slope = 0.2});
    h = tb::conv2d(h, second_.weight, second_.bias, {.stride = 2, .padding = 1});
    h = tb::leaky_relu(h, {.slope = 0.2});
    return tb::dense(tb::flatten(h), last_.weight, last_.bias);
  }

 private:
  struct Weights {
    tb::Value weight;
    tb::Value bias;
  };
  static Weights weights(tb::Graph& g, const std::string& layer, const tb::Shape& shape) {
    const std::string name = "discriminator." + layer;
    return {g.parameter(name + ".weight", shape, tb::init::torch_default()),
            g.parameter(name + ".bias", {shape[0]}, tb::init::zeros())};
  }
  Weights first_;
  Weights second_;
  Weights last_;
};

// 8 x 8 images of 28 x 28 as one picture.
void write_picture(const std::string& path, const std::vector<float>& images) {
  std::ofstream file(path, std::ios::binary);
  file << "P5\n224 224\n255\n";
  for (size_t row = 0; row < 224; ++row) {
    for (size_t column = 0; column < 224; ++column) {
      const size_t image = row / 28 * 8 + column / 28;
      const float value = images[image * 784 + row % 28 * 28 + column % 28];
      file.put(static_cast<char>(static_cast<unsigned char>(255.0F * value)));
    }
  }
}

int main(int count, char** arguments) {
  const std::string picture = count > 1 ? arguments[1] : "gan.pgm";
  const int epochs = count > 2 ? std::atoi(arguments[2]) : 20;

  tb::Graph g;
  auto real = g.input("image", {28, 28, 1});
  auto fake = generator(tb::random_normal(g, {tb::kBatch, 32}));
  const Discriminator discriminator(g);
  auto of_real = discriminator(real);
  auto of_fake = discriminator(fake);

  // Each network has a loss of its own; one step changes both. Goodfellow et al., 2014, with the
  // generator's loss of section 3.
  auto discriminator_loss =
      tb::mean(tb::softplus(tb::neg(of_real))) + tb::mean(tb::softplus(of_fake));
  auto generator_loss = tb::mean(tb::softplus(tb::neg(of_fake)));
  g.minimize(discriminator_loss + generator_loss);
  g.metric("discriminator", discriminator_loss);
  g.metric("generator", generator_loss);
  g.output("drawn", fake);

  tb::Trainer trainer(g, {.optimizer = tb::Adam{.lr = 2e-3, .beta1 = 0.5},
                          .objectives = {{.loss = "discriminator",
                                          .parameters = "discriminator.*",
                                          .optimizer = tb::Adam{.lr = 5e-4, .beta1 = 0.5}},
                                         {.loss = "generator", .parameters = "generator.*"}},
                          .batch = 64});
  const auto digits = tb::data::digits(6000, /*seed=*/1);
  trainer.fit(digits, {.epochs = epochs, .on_epoch = [](const tb::EpochReport& epoch) {
                         std::cout << "epoch " << epoch.epoch + 1 << ": discriminator "
                                   << epoch.train.metrics.at("discriminator") << ", generator "
                                   << epoch.train.metrics.at("generator") << std::endl;
                       }});
  write_picture(picture, trainer.predict(digits.take(64), "drawn").floats());
  std::cout << "wrote " << picture << "\n";
}
