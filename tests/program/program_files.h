// A small model whose program has everything that programs can have.
#pragma once

#include <thimble/compiled_training.h>
#include <thimble/error.h>
#include <thimble/metrics.h>
#include <thimble/model_file.h>
#include <thimble/ops.h>
#include <thimble/trainer.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/program_checksums.h"
#include "harness/error_of.h"
#include "io/temporary_folder.h"
#include "models/nearest_budget.h"

namespace thimble::test {

inline Value mean_squares(Value x) { return mean(mul(x, x)); }

// A classifier with a convolution, a dense layer whose update is tiled, dropout and metrics.
inline Graph small_classifier() {
  Graph g;
  const Value image = g.input("image", {6, 6, 1});
  const Value digit = g.label("digit");
  Value x = relu(conv2d(image, {.channels = 4, .kernel = 3, .padding = 1, .name = "conv"}));
  x = dropout(max_pool2d(x, {.kernel = 2}), {.p = 0.2});
  x = relu(dense(flatten(x), {.units = 1200, .name = "wide"}));
  const Value logits = dense(x, {.units = 5, .name = "last"});
  g.minimize(softmax_cross_entropy(logits, digit));
  g.metric("accuracy", accuracy(logits, digit));
  g.metric("squares", mean_squares(logits));  // a loss of its own for some parameters
  g.metric("f1", f1_score(logits, digit));    // of all samples of an epoch together
  g.output("probabilities", softmax(logits));
  return g;
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline data::Dataset images(int64_t count) {
  std::vector<float> pixels(static_cast<size_t>(count * 36));
  std::vector<int32_t> digits(static_cast<size_t>(count));
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = static_cast<float>((i * 37) % 101) / 101.0F;
  for (size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<int32_t>(i * 7 % 5);
  return data::in_memory({{"image", {6, 6, 1}}, {"digit", {}, DType::i32, true}}, {pixels, digits});
}

inline std::vector<TrainerOptions> all_options() {
  const TrainerOptions plain{.optimizer = AdamW{.lr = 3e-3}, .batch = 8, .seed = 3, .threads = 1};
  std::vector<TrainerOptions> all{plain};
  all.push_back(plain);
  all.back().threads = 2;
  all.back().ema_decay = 0.9;
  all.back().clip = GradientClip::by_global_norm(1.0);
  all.back().schedule = Schedule::parse("warmup:steps=2/cosine:decay_steps=20", 3e-3, 0);
  all.push_back(plain);
  all.back().optimizer = SGD{.lr = 0.05, .momentum = 0.9};
  all.back().accumulate = 2;
  all.back().groups = {{.pattern = "conv.*", .frozen = true},
                       {.pattern = "last.*", .lr_scale = 0.5}};
  all.push_back(plain);
  all.back().micro_batches = 3;
  all.push_back(plain);
  all.back().swap = Swap::always;  // in the least budget that works
  all.push_back(plain);
  all.back().precision = DType::bf16;
  all.push_back(plain);
  all.back().objectives = {
      {.loss = "squares", .parameters = "last.*", .optimizer = SGD{.lr = 0.1}}};
  return all;
}

// The options; with swap in the least budget for these data.
inline TrainerOptions in_least_budget(TrainerOptions options, const CompileFor& data) {
  if (options.swap != Swap::always) return options;
  options.memory_budget = 1;
  options.memory_budget = test::named_budget(
      error_of([&] { (void)CompiledTraining(test::small_classifier(), options, data); }));
  return options;
}

// The model with given initial values.
inline Graph trained_before() {
  const test::TemporaryFolder folder;
  Trainer before(test::small_classifier(), {.batch = 8, .seed = 9, .threads = 1});
  before.fit(images(16));
  before.save_model(folder / "model");
  return load_model(folder / "model");
}

}  // namespace thimble::test
