// GPT-2 (Radford et al., "Language models are unsupervised multitask learners", 2019).
#include <fmt/format.h>
#include <thimble/ops.h>

#include <cmath>

#include "import/hugging_face/model.h"
#include "ir/graph.h"

namespace thimble::importer::hugging_face {
namespace {

struct Gpt2Sizes {
  int64_t width;
  int64_t heads;
  int64_t inner;
  double epsilon;
  bool scaled;            // attention divides by the root of a head's width
  bool scaled_by_layers;  // and by the number of the layer
};

// x W + b, with weights [in, out].
Value gpt2_projection(Graph& g, Value x, int64_t units, const std::string& name) {
  const ir::LayerScope layer(g.ir(), "dense", name);
  const Value weight = g.parameter(name + ".weight", {x.shape()[-1], units}, init::zeros());
  const Value bias = g.parameter(name + ".bias", {units}, init::zeros());
  return matmul(x, weight, bias);
}

Value gpt2_attention(Graph& g, Value x, const Gpt2Sizes& sizes, int64_t number,
                     const std::string& name) {
  const Value qkv = gpt2_projection(g, x, 3 * sizes.width, name + ".c_attn");
  std::vector<Value> parts;
  for (const Value part : split(qkv, 3, 2)) {
    parts.push_back(reshape(part, {-1, x.shape()[1], sizes.heads, sizes.width / sizes.heads}));
  }
  double scale = 1.0;
  if (sizes.scaled) scale /= std::sqrt(static_cast<double>(sizes.width / sizes.heads));
  if (sizes.scaled_by_layers) scale /= static_cast<double>(number + 1);
  const Value y =
      scaled_dot_product_attention(parts[0], parts[1], parts[2], {.causal = true, .scale = scale});
  return gpt2_projection(g, reshape(y, {-1, x.shape()[1], sizes.width}), sizes.width,
                         name + ".c_proj");
}

void build_gpt2(Graph& g, const Model& model) {
  const Config& config = model.config;
  const std::string architecture = config.architecture("GPT2LMHeadModel");
  const bool has_head = architecture == "GPT2LMHeadModel";
  if (!has_head && architecture != "GPT2Model") {
    config.refuse_architecture(architecture, "GPT2LMHeadModel and GPT2Model");
  }
  config.only("add_cross_attention", false);
  const Gpt2Sizes sizes{
      .width = config.size({"n_embd", "hidden_size"}),
      .heads = config.size({"n_head", "num_attention_heads"}),
      .inner = config.size({"n_inner"}, 4 * config.size({"n_embd", "hidden_size"})),
      .epsilon = config.number({"layer_norm_epsilon"}, 1e-5),
      .scaled = config.flag("scale_attn_weights", true),
      .scaled_by_layers = config.flag("scale_attn_by_inverse_layer_idx", false)};
  if (sizes.width % sizes.heads != 0) config.fail("n_head", "does not divide n_embd");
  const int64_t vocabulary = config.size({"vocab_size"});
  const int64_t positions = config.size({"n_positions", "max_position_embeddings"}, 1024);
  const int64_t tokens = model.tokens(positions);
  const ActivationFn act = activation(config, {"activation_function"}, "gelu_new");
  model.weights.set_trunk("transformer.");
  const std::string trunk = has_head ? "transformer." : "";
  const int64_t layers =
      model.layers({"n_layer", "num_hidden_layers"}, trunk + "h.", ".mlp.c_proj.bias");

  const Value ids = g.input("input_ids", {tokens}, DType::i32);
  const Value table = g.parameter(trunk + "wte.weight", {vocabulary, sizes.width}, init::zeros());
  const Value places = g.parameter(trunk + "wpe.weight", {positions, sizes.width}, init::zeros());
  Value x = embedding(ids, table) + slice(places, 0, 0, tokens);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = fmt::format("{}h.{}", trunk, layer);
    const auto norm = [&](const char* end) {
      return layer_norm(x, {.epsilon = sizes.epsilon, .name = name + end});
    };
    x = x + gpt2_attention(g, norm(".ln_1"), sizes, layer, name + ".attn");
    const Value h = act(gpt2_projection(g, norm(".ln_2"), sizes.inner, name + ".mlp.c_fc"));
    x = x + gpt2_projection(g, h, sizes.width, name + ".mlp.c_proj");
  }
  x = layer_norm(x, {.epsilon = sizes.epsilon, .name = trunk + "ln_f"});
  if (!has_head) {
    g.output("last_hidden_state", x);
    return;
  }
  const bool tied = config.flag("tie_word_embeddings", true);
  const Value head =
      tied ? table : g.parameter("lm_head.weight", {vocabulary, sizes.width}, init::zeros());
  g.output("logits", dense(x, head, Value(), "lm_head"));
}

}  // namespace

const Family& gpt2_family() {
  // Masks of old checkpoints, and a copy of the table.
  static const Family family{
      "gpt2", build_gpt2, {".attn.bias", ".attn.masked_bias", "lm_head.weight"}};
  return family;
}

}  // namespace thimble::importer::hugging_face
