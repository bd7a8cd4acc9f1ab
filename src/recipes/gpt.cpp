// A language model of bytes in the form of GPT-2 (Radford et al., "Language models are unsupervised
// multitask learners", 2019): pre-norm blocks of causal attention and a GELU network, learned
// positions, the token table also in the place of the last layer. Names, layouts and initial values
// of the weights as in nanoGPT (https://github.com/karpathy/nanoGPT); no dropout.
#include <thimble/ops.h>

#include <cmath>

#include "recipes/gpt.h"
#include "recipes/recipes.h"
#include "recipes/text_sampling.h"

namespace thimble::models {
namespace {

constexpr int64_t kContext = 256;
constexpr int64_t kWidth = 384;
constexpr int64_t kHeads = 6;
constexpr int64_t kLayers = 6;
constexpr int64_t kBytes = 256;
constexpr int64_t kBuiltIn = 3 << 17;  // bytes

// Keys and values of the preceding bytes, for the model that reads one byte at a time.
struct Memory {
  Value k;        // [N, 256, 6, 64], those of the last bytes at the end
  Value v;        // likewise
  Value visible;  // u8 [N, 1, 1, 256]
};

Value projection(Value x, int64_t units, double stddev, const std::string& name) {
  return dense(x, {.units = units,
                   .weight_init = init::normal(0.0, stddev),
                   .bias_init = init::zeros(),
                   .name = name});
}

// One of the three parts of the key, query and value weights.
Value projected(Value x, const std::vector<Value>& weights, const std::vector<Value>& biases,
                size_t part) {
  const Value y = matmul(x, weights[part], biases[part], {.transpose_b = true});
  return reshape(y, {-1, x.shape()[1], kHeads, kWidth / kHeads});
}

// Drops the oldest position and appends that of x, [N, 1, 6, 64].
Value remembered(Value memory, Value x) { return concat({slice(memory, 1, 1), x}, {.axis = 1}); }

// x: [N, T, 384]. memory: replaced by that of the next byte; null for whole windows.
Value attention(Graph& g, Value x, Memory* memory, int64_t layers, const std::string& name) {
  const std::string layer = name + ".c_attn";
  const auto weights =
      split(g.parameter(layer + ".weight", {3 * kWidth, kWidth}, init::normal(0.0, 0.02)), 3, 0);
  const auto biases = split(g.parameter(layer + ".bias", {3 * kWidth}, init::zeros()), 3, 0);
  const Value q = projected(x, weights, biases, 0);
  const Value k = projected(x, weights, biases, 1);
  const Value v = projected(x, weights, biases, 2);
  Value y;
  if (memory != nullptr) {
    memory->k = remembered(memory->k, k);
    memory->v = remembered(memory->v, v);
    y = scaled_dot_product_attention(q, memory->k, memory->v, memory->visible);
  } else {
    y = scaled_dot_product_attention(q, k, v, {.causal = true});
  }
  const double stddev = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));
  return projection(reshape(y, {-1, x.shape()[1], kWidth}), kWidth, stddev, name + ".c_proj");
}

// layers: of the model, by which the initial values of what is added to x are scaled.
Value block(Graph& g, Value x, Memory* memory, int64_t layers, const std::string& name) {
  x = x + attention(g, layer_norm(x, {.name = name + ".ln_1"}), memory, layers, name + ".attn");
  Value h = layer_norm(x, {.name = name + ".ln_2"});
  h = gelu(projection(h, 4 * kWidth, 0.02, name + ".mlp.c_fc"));
  const double stddev = 0.02 / std::sqrt(2.0 * static_cast<double>(layers));
  return x + projection(h, kWidth, stddev, name + ".mlp.c_proj");
}

std::string block_name(int64_t layer) { return "transformer.h." + std::to_string(layer); }

// Table of the bytes, shared by the first and the last layer.
Value byte_table(Graph& g) {
  return g.parameter("transformer.wte.weight", {kBytes, kWidth}, init::normal(0.0, 0.02));
}
Value position_table(Graph& g) {
  return g.parameter("transformer.wpe.weight", {kContext, kWidth}, init::normal(0.0, 0.02));
}

// [N, T, 384] to the scores of the next byte, [N, T, 256].
Value scores(Value x, Value table) {
  return matmul(layer_norm(x, {.name = "transformer.ln_f"}), table, {.transpose_b = true});
}

Graph build() { return gpt_graph(kLayers); }

// One byte at a time. "token", "position": i32; "k.0", "v.0" ...: what the step before returned
// under the same names.
Graph step() {
  Graph g;
  const Value token = g.input("token", {1}, DType::i32);
  const Value position = g.input("position", {1}, DType::i32);
  const Value table = byte_table(g);
  Value x = embedding(token, table) + embedding(position, position_table(g));
  std::vector<float> age(kContext);
  for (size_t i = 0; i < age.size(); ++i) age[i] = static_cast<float>(age.size() - 1 - i);
  const Value at = reshape(cast(position, DType::f32), {-1, 1, 1, 1});
  const Value visible = ge(at, g.constant("age", {kContext}, std::move(age)));
  for (int64_t layer = 0; layer < kLayers; ++layer) {
    const Shape shape{kContext, kHeads, kWidth / kHeads};
    const std::string k = "k." + std::to_string(layer);
    const std::string v = "v." + std::to_string(layer);
    Memory memory{g.input(k, shape), g.input(v, shape), visible};
    x = block(g, x, &memory, kLayers, block_name(layer));
    g.output(k, memory.k);
    g.output(v, memory.v);
  }
  g.output("logits", scores(x, table));
  return g;
}

data::Dataset data(const std::string& path, data::Split split) {
  return text_data(path, kBuiltIn, kContext, split);
}

Samples sample(const std::string& checkpoint, const SampleOptions& options) {
  return sample_text({.step = step, .context = kContext}, checkpoint, options);
}

constexpr TorchWeights::Tied kTied[] = {{"lm_head.weight", "transformer.wte.weight"}};
constexpr const char* kMasks[] = {".attn.bias", ".attn.masked_bias"};  // buffers of older nanoGPTs

}  // namespace

Graph gpt_graph(int64_t layers) {
  Graph g;
  const Value tokens = g.input("tokens", {kContext}, DType::i32);
  const Value next = g.label("next", {kContext});
  const Value table = byte_table(g);
  Value x = embedding(tokens, table) + position_table(g);
  for (int64_t layer = 0; layer < layers; ++layer) {
    x = block(g, x, nullptr, layers, block_name(layer));
  }
  learn_next_byte(g, scores(x, table), next);
  return g;
}

constinit const Recipe gpt = text_recipe({
    .name = "gpt",
    .doc = "GPT-2's form of transformer: bytes of a text, 6 layers of 384, 256 bytes of context",
    .build = build,
    .data = models::data,
    .batch = 4,
    .epochs = 3,
    .optimizer = []() -> Optimizer {
      return AdamW{.lr = 1e-3, .beta2 = 0.99, .weight_decay = 0.1};
    },
    .sampler = sample,
    .torch = {.tied = kTied, .buffers = kMasks},
});

}  // namespace thimble::models
