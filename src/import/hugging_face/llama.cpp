// LLaMA (Touvron et al., "LLaMA: open and efficient foundation language models", 2023) and models
// of its form: Mistral, Qwen2, Qwen3.
#include <fmt/format.h>
#include <thimble/ops.h>

#include <cmath>
#include <numbers>

#include "import/hugging_face/model.h"
#include "ir/graph.h"

namespace thimble::importer::hugging_face {
namespace {

// The largest table of rotations that is made, in numbers.
constexpr int64_t kMostRotations = int64_t{1} << 27;

struct LlamaSizes {
  int64_t width;
  int64_t heads;
  int64_t groups;  // heads of keys and values
  int64_t head_width;
  int64_t inner;
  double epsilon;
  bool qkv_bias;
  bool output_bias;
  bool inner_bias;
  bool norms_heads;  // queries and keys are normalized
};

// Radians per position of each pair: theta^(-2i / D), scaled as config.json says.
std::vector<double> rope_frequencies(const Config& config, int64_t width, int64_t positions) {
  std::optional<Config> rope = config.object("rope_parameters");
  if (!rope) rope = config.object("rope_scaling");
  double theta = config.number({"rope_theta"}, 10000.0);
  std::string type = "default";
  if (rope) {
    theta = rope->number({"rope_theta"}, theta);
    type = rope->text({"rope_type", "type"}, "default");
    rope->only("partial_rotary_factor", 1.0);
  }
  config.only("partial_rotary_factor", 1.0);
  std::vector<double> made(static_cast<size_t>(width / 2));
  for (size_t i = 0; i < made.size(); ++i) {
    made[i] = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(width));
  }
  if (type == "default") return made;
  if (type == "linear") {
    for (double& f : made) f /= rope->number({"factor"});
    return made;
  }
  if (type != "llama3") {
    config.fail("rope_type", type + " is not read; thimble reads default, linear and llama3");
  }
  // Low frequencies are divided by the factor, high ones stay, those between are interpolated.
  const double factor = rope->number({"factor"});
  const double low = rope->number({"low_freq_factor"});
  const double high = rope->number({"high_freq_factor"});
  const auto context =
      static_cast<double>(rope->size({"original_max_position_embeddings"}, positions));
  if (!(low < high)) config.fail("low_freq_factor", "must be below high_freq_factor");
  for (double& f : made) {
    const double turns = context * f / (2.0 * std::numbers::pi);  // in the first context
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    f = (1.0 - kept) * f / factor + kept * f;
  }
  return made;
}

// Cosines and sines, [T, 2, D / 2].
Array rope_rotations(const std::vector<double>& frequencies, int64_t tokens) {
  const auto pairs = static_cast<int64_t>(frequencies.size());
  std::vector<float> table;
  table.reserve(static_cast<size_t>(2 * tokens * pairs));
  for (int64_t t = 0; t < tokens; ++t) {
    for (const double f : frequencies) {
      table.push_back(static_cast<float>(std::cos(static_cast<double>(t) * f)));
    }
    for (const double f : frequencies) {
      table.push_back(static_cast<float>(std::sin(static_cast<double>(t) * f)));
    }
  }
  return Array(std::move(table), {tokens, 2, pairs});
}

Value llama_linear(Value x, int64_t units, bool bias, const std::string& name) {
  return dense(x, {.units = units, .bias = bias, .name = name});
}

Value llama_attention(Value x, Value turns, const LlamaSizes& s, const std::string& name) {
  const int64_t tokens = x.shape()[1];
  const ir::OpDef& rotate = *ir::find_op("rotate_pairs");
  const auto part = [&](const char* end, int64_t heads) {
    return reshape(llama_linear(x, heads * s.head_width, s.qkv_bias, name + end),
                   {-1, tokens, heads, s.head_width});
  };
  Value q = part(".q_proj", s.heads);
  Value k = part(".k_proj", s.groups);
  const Value v = part(".v_proj", s.groups);
  if (s.norms_heads) {
    q = rms_norm(q, {.epsilon = s.epsilon, .name = name + ".q_norm"});
    k = rms_norm(k, {.epsilon = s.epsilon, .name = name + ".k_norm"});
  }
  const auto turned = [&](Value y) {
    return y.graph().add1(rotate, ir::Attrs::defaults(rotate.signature.attrs), {y, turns});
  };
  const Value y = scaled_dot_product_attention(turned(q), turned(k), v, {.causal = true});
  return llama_linear(reshape(y, {-1, tokens, s.heads * s.head_width}), s.width, s.output_bias,
                      name + ".o_proj");
}

LlamaSizes llama_sizes(const Config& config, const std::string& type) {
  LlamaSizes s{};
  s.width = config.size({"hidden_size"});
  s.heads = config.size({"num_attention_heads"});
  s.groups = config.size({"num_key_value_heads"}, s.heads);
  if (s.heads % s.groups != 0) {
    config.fail("num_key_value_heads", "does not divide num_attention_heads");
  }
  if (!config.has("head_dim") && s.width % s.heads != 0) {
    config.fail("num_attention_heads", "does not divide hidden_size");
  }
  s.head_width = config.size({"head_dim"}, s.width / s.heads);
  if (s.head_width % 2 != 0) config.fail("head_dim", "expected an even number");
  s.inner = config.size({"intermediate_size"});
  s.epsilon = config.number({"rms_norm_eps"}, 1e-6);
  const bool bias = config.flag("attention_bias", false);
  s.qkv_bias = type == "qwen2" || bias;
  s.output_bias = type != "qwen2" && bias;
  s.inner_bias = config.flag("mlp_bias", false);
  s.norms_heads = type == "qwen3";
  return s;
}

// Attention that sees a part of what is before it is that of shorter samples.
void check_window(const Config& config, const std::string& type, int64_t tokens) {
  const bool is_used = type == "mistral" || config.flag("use_sliding_window", false);
  if (!is_used || !config.has("sliding_window")) return;
  const int64_t window = config.size({"sliding_window"});
  if (tokens <= window) return;
  config.fail("sliding_window", fmt::format("is {}, and thimble has no such attention; take "
                                            "samples of at most so many tokens, not {}",
                                            window, tokens));
}

void build_llama(Graph& g, const Model& model) {
  const Config& config = model.config;
  const std::string type = config.text({"model_type"});
  const std::string architecture = config.architecture("ForCausalLM");
  const bool has_head = architecture.ends_with("ForCausalLM");
  if (!has_head && !architecture.ends_with("Model")) {
    config.refuse_architecture(architecture, "LlamaForCausalLM and LlamaModel, and their like");
  }
  const LlamaSizes s = llama_sizes(config, type);
  const int64_t vocabulary = config.size({"vocab_size"});
  const int64_t positions = config.size({"max_position_embeddings"}, 2048);
  const int64_t tokens = model.tokens(positions);
  check_window(config, type, tokens);
  const ActivationFn act = activation(config, {"hidden_act"}, "silu");
  model.weights.set_trunk("model.");
  const std::string trunk = has_head ? "model." : "";
  const int64_t layers =
      model.layers({"num_hidden_layers"}, trunk + "layers.", ".input_layernorm.weight");
  if (s.head_width > kMostRotations / tokens) config.fail("head_dim", "is too large");

  const Value ids = g.input("input_ids", {tokens}, DType::i32);
  const Value table =
      g.parameter(trunk + "embed_tokens.weight", {vocabulary, s.width}, init::zeros());
  const Value turns = g.constant(
      "rotary_table", rope_rotations(rope_frequencies(config, s.head_width, positions), tokens));
  Value x = embedding(ids, table);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string name = fmt::format("{}layers.{}", trunk, layer);
    const auto norm = [&](const char* end) {
      return rms_norm(x, {.epsilon = s.epsilon, .name = name + end});
    };
    x = x + llama_attention(norm(".input_layernorm"), turns, s, name + ".self_attn");
    const Value h = norm(".post_attention_layernorm");
    const Value gate = act(llama_linear(h, s.inner, s.inner_bias, name + ".mlp.gate_proj"));
    const Value up = llama_linear(h, s.inner, s.inner_bias, name + ".mlp.up_proj");
    x = x + llama_linear(gate * up, s.width, s.inner_bias, name + ".mlp.down_proj");
  }
  x = rms_norm(x, {.epsilon = s.epsilon, .name = trunk + "norm"});
  if (!has_head) {
    g.output("last_hidden_state", x);
    return;
  }
  if (config.flag("tie_word_embeddings", false)) {
    g.output("logits", dense(x, table, Value(), "lm_head"));
    return;
  }
  g.output("logits", llama_linear(x, vocabulary, false, "lm_head"));
}

}  // namespace

const Family& llama_family() {
  static const Family family{"llama", build_llama, {"rotary_emb.inv_freq", "lm_head.weight"}};
  return family;
}

}  // namespace thimble::importer::hugging_face
