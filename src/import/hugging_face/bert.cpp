// BERT (Devlin et al., "BERT: pre-training of deep bidirectional transformers for language
// understanding", 2018).
#include <fmt/format.h>
#include <thimble/ops.h>

#include "import/hugging_face/encoder.h"
#include "ir/graph.h"

namespace thimble::importer::hugging_face {
namespace {

// Post-norm: each of the two parts of a layer ends with a layer norm of the sum.
Value bert_layer(Value x, Value mask, const EncoderSizes& s, const ActivationFn& act,
                 const std::string& name) {
  const auto norm = [&](Value y, const char* end) {
    return layer_norm(y, {.epsilon = s.epsilon, .name = name + end});
  };
  const Value attended =
      encoder_attention(x, mask, s, name + ".attention.self", name + ".attention.output.dense");
  x = norm(x + attended, ".attention.output.LayerNorm");
  const Value h = act(dense(x, {.units = s.inner, .name = name + ".intermediate.dense"}));
  return norm(x + dense(h, {.units = s.width, .name = name + ".output.dense"}),
              ".output.LayerNorm");
}

// The scores of every token's word, through the table of words.
Value word_scores(Graph& g, Value x, Value table, const EncoderSizes& s, const ActivationFn& act) {
  const std::string name = "cls.predictions";
  x = act(dense(x, {.units = s.width, .name = name + ".transform.dense"}));
  x = layer_norm(x, {.epsilon = s.epsilon, .name = name + ".transform.LayerNorm"});
  const Value bias = g.parameter(name + ".bias", {table.shape()[0]}, init::zeros());
  return dense(x, table, bias, name + ".decoder");
}

void build_bert(Graph& g, const Model& model) {
  const Config& config = model.config;
  const std::string architecture = config.architecture("BertModel");
  config.only("position_embedding_type", "absolute");
  config.only("is_decoder", false);
  config.only("add_cross_attention", false);
  const EncoderSizes s = encoder_sizes(config);
  const int64_t vocabulary = config.size({"vocab_size"});
  const int64_t positions = config.size({"max_position_embeddings"}, 512);
  const int64_t types = config.size({"type_vocab_size"}, 2);
  const int64_t tokens = model.tokens(positions);
  const ActivationFn act = activation(config, {"hidden_act"}, "gelu");
  model.weights.set_trunk("bert.");
  const std::string trunk = architecture == "BertModel" ? "" : "bert.";
  const int64_t layers =
      model.layers({"num_hidden_layers"}, trunk + "encoder.layer.", ".output.dense.bias");

  const Value ids = g.input("input_ids", {tokens}, DType::i32);
  const Value mask = g.input("attention_mask", {tokens}, DType::u8);
  const Value kinds = g.input("token_type_ids", {tokens}, DType::i32);
  const auto table = [&](const char* name, int64_t rows) {
    return g.parameter(fmt::format("{}embeddings.{}_embeddings.weight", trunk, name),
                       {rows, s.width}, init::zeros());
  };
  const Value words = table("word", vocabulary);
  Value x = embedding(ids, words) + embedding(kinds, table("token_type", types)) +
            slice(table("position", positions), 0, 0, tokens);
  x = layer_norm(x, {.epsilon = s.epsilon, .name = trunk + "embeddings.LayerNorm"});
  const Value seen = reshape(mask, {-1, 1, 1, tokens});
  for (int64_t i = 0; i < layers; ++i) {
    x = bert_layer(x, seen, s, act, fmt::format("{}encoder.layer.{}", trunk, i));
  }

  const auto pooled = [&] {
    const Value first = reshape(slice(x, 1, 0, 1), {-1, s.width});
    return tanh(dense(first, {.units = s.width, .name = trunk + "pooler.dense"}));
  };
  const auto classes = [&] { return model.weights.shape("classifier.weight")[0]; };
  if (architecture == "BertModel") {
    g.output("last_hidden_state", x);
    if (model.weights.has(trunk + "pooler.dense.weight")) g.output("pooler_output", pooled());
  } else if (architecture == "BertForMaskedLM" || architecture == "BertForPreTraining") {
    config.only("tie_word_embeddings", true);
    g.output("logits", word_scores(g, x, words, s, act));
  } else if (architecture == "BertForSequenceClassification") {
    g.output("logits", dense(pooled(), {.units = classes(), .name = "classifier"}));
  } else if (architecture == "BertForTokenClassification") {
    g.output("logits", dense(x, {.units = classes(), .name = "classifier"}));
  } else {
    config.refuse_architecture(
        architecture,
        "BertModel, BertForMaskedLM, BertForPreTraining, BertForSequenceClassification and "
        "BertForTokenClassification");
  }
}

}  // namespace

const Family& bert_family() {
  // Position numbers, copies of what is tied, and heads of pre-training that these models lack.
  static const Family family{
      "bert",
      build_bert,
      {"embeddings.position_ids", "cls.predictions.decoder.weight", "cls.predictions.decoder.bias",
       "cls.seq_relationship.weight", "cls.seq_relationship.bias", "pooler.dense.weight",
       "pooler.dense.bias"}};
  return family;
}

}  // namespace thimble::importer::hugging_face
