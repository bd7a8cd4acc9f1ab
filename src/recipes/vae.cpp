// Variational autoencoder for 28x28 images. Kingma and Welling, "Auto-Encoding Variational Bayes",
// ICLR 2014; convolutional, with batch normalisation.
#include <thimble/ops.h>
#include <thimble/predictor.h>

#include "exec/memory.h"
#include "recipes/digits_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

constexpr int64_t kLatent = 16;

Value encoder_block(Value x, int64_t channels, const std::string& name) {
  x = conv2d(x, {.channels = channels,
                 .kernel = 3,
                 .stride = 2,
                 .padding = 1,
                 .bias = false,
                 .name = name + ".conv"});
  return relu(batch_norm(x, {.name = name + ".norm"}));
}

// From latent codes [N, 16] to the logits of the pixels [N, 28, 28, 1].
Value decode(Value z) {
  Value x = relu(dense(z, {.units = 392, .name = "decoder.dense"}));
  x = reshape(x, {-1, 7, 7, 8});
  x = conv_transpose2d(x, {.channels = 4,
                           .kernel = 4,
                           .stride = 2,
                           .padding = 1,
                           .bias = false,
                           .name = "decoder.1.conv"});
  x = relu(batch_norm(x, {.name = "decoder.1.norm"}));
  x = conv_transpose2d(x, {.channels = 1,
                           .kernel = 4,
                           .stride = 2,
                           .padding = 1,
                           .bias = false,
                           .name = "decoder.2.conv"});
  return batch_norm(x, {.name = "decoder.2.norm"});
}

Graph build() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  const Value features =
      flatten(encoder_block(encoder_block(image, 4, "encoder.1"), 8, "encoder.2"));
  const Value mean = dense(features, {.units = kLatent, .name = "mean"});
  const Value logvar = dense(features, {.units = kLatent, .name = "logvar"});
  const Value logits = decode(reparametrize(mean, logvar));

  const Value reconstruction =
      binary_cross_entropy_with_logits(logits, image, {.reduction = Reduction::batch_mean});
  const Value divergence = gaussian_kl(mean, logvar, {.reduction = Reduction::batch_mean});
  g.minimize(reconstruction + divergence);
  g.metric("reconstruction", reconstruction);
  g.metric("kl", divergence);
  g.output("reconstruction", sigmoid(logits));
  g.output("mean", mean);
  return g;
}

Graph decoder() {
  Graph g;
  g.output("image", sigmoid(decode(g.input("z", {kLatent}))));
  return g;
}

Samples sample(const std::string& checkpoint, const SampleOptions& options) {
  Predictor images(decoder(), checkpoint, 32, options.threads);
  const Shape shape{options.count, kLatent};
  std::vector<float> z(static_cast<size_t>(shape.elements()));
  exec::fill_initial(init::normal(0.0, 1.0), "z", options.seed, shape, z.data());
  return {.images = images.run({{"z", z}}).at("image")};
}

constexpr TorchWeights::Flattened kFlattened[] = {{"mean.weight", 1, 7, 7, 8},
                                                  {"logvar.weight", 1, 7, 7, 8},
                                                  {"decoder.dense.weight", 0, 7, 7, 8},
                                                  {"decoder.dense.bias", 0, 7, 7, 8}};

}  // namespace

const Recipe vae{
    .name = "vae",
    .doc = "convolutional variational autoencoder, 28x28 images, 16 latent numbers",
    .build = build,
    .data = digits_data,
    .data_doc = kDigitsDoc,
    .built_in_name = kDigitsBuiltInName,
    .real_name = kDigitsRealName,
    .batch = 32,
    .epochs = 15,
    .optimizer = []() -> Optimizer { return AdamW{.lr = 1e-2, .weight_decay = 0.01}; },
    .schedule =
        [](double lr, int64_t steps) {
          return Schedule::cosine_annealing({.max = lr, .min = 1e-5, .decay_steps = steps});
        },
    .makes = SampleKind::images,
    .sampler = sample,
    .judge = "lenet5",
    .judge_epochs = 3,
    .judged = 2000,
    .decoder = decoder,
    .latent = kLatent,
    .torch = {.flattened = kFlattened},
};

}  // namespace thimble::models
