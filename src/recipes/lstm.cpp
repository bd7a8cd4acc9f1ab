// A language model of bytes ("character level"): two layers of long short-term memory. Graves,
// "Generating sequences with recurrent neural networks", 2013.
#include <thimble/ops.h>

#include "recipes/recipes.h"
#include "recipes/text_sampling.h"

namespace thimble::models {
namespace {

constexpr int64_t kSteps = 64;
constexpr int64_t kUnits = 256;
constexpr int64_t kLayers = 2;
constexpr int64_t kBytes = 256;
constexpr int64_t kBuiltIn = int64_t{1} << 20;  // bytes

struct Scores {
  Value logits;  // of the next byte, [N, T, 256]
  LstmResult states;
};

// tokens: i32 [N, T]; h, c: [N, 2, 256], or none for zeros.
Scores scores(Value tokens, Value h, Value c) {
  const Value x = embedding(tokens, {.embeddings = kBytes, .width = kUnits, .name = "embedding"});
  const LstmResult states =
      thimble::lstm(x, h, c, {.units = kUnits, .layers = kLayers, .name = "lstm"});
  return {dense(states.y, {.units = kBytes, .name = "head"}), states};
}

// Every window starts from zero states.
Graph build() {
  Graph g;
  const Value tokens = g.input("tokens", {kSteps}, DType::i32);
  const Value next = g.label("next", {kSteps});
  learn_next_byte(g, scores(tokens, Value(), Value()).logits, next);
  return g;
}

// One byte at a time: "h" and "c" are what the step before returned under these names.
Graph step() {
  Graph g;
  const Value token = g.input("token", {1}, DType::i32);
  const Value h = g.input("h", {kLayers, kUnits});
  const Value c = g.input("c", {kLayers, kUnits});
  const Scores next = scores(token, h, c);
  g.output("logits", next.logits);
  g.output("h", next.states.h);
  g.output("c", next.states.c);
  return g;
}

data::Dataset data(const std::string& path, data::Split split) {
  return text_data(path, kBuiltIn, kSteps, split);
}

Samples sample(const std::string& checkpoint, const SampleOptions& options) {
  return sample_text({.step = step, .context = 0}, checkpoint, options);
}

}  // namespace

constinit const Recipe lstm = text_recipe({
    .name = "lstm",
    .doc = "two layers of LSTM over bytes of a text, 256 units, windows of 64 bytes",
    .build = build,
    .data = models::data,
    .batch = 32,
    .epochs = 4,
    .optimizer = []() -> Optimizer { return Adam{.lr = 2e-3}; },
    .sampler = sample,
});

}  // namespace thimble::models
