// The vision transformer (Dosovitskiy et al., "An image is worth 16x16 words", 2020).
#include <fmt/format.h>
#include <thimble/ops.h>

#include "import/hugging_face/encoder.h"
#include "ir/graph.h"

namespace thimble::importer::hugging_face {
namespace {

// Pre-norm.
Value vit_layer(Value x, const EncoderSizes& s, const ActivationFn& act, const std::string& name) {
  const auto norm = [&](const char* end) {
    return layer_norm(x, {.epsilon = s.epsilon, .name = name + end});
  };
  x = x + encoder_attention(norm(".layernorm_before"), Value(), s, name + ".attention.attention",
                            name + ".attention.output.dense");
  const Value h = act(
      dense(norm(".layernorm_after"), {.units = s.inner, .name = name + ".intermediate.dense"}));
  return x + dense(h, {.units = s.width, .name = name + ".output.dense"});
}

// The patches of images, [N, P, D].
Value vit_patches(Value image, int64_t patch, int64_t width, const std::string& name) {
  const Value y =
      conv2d(image, {.channels = width, .kernel = patch, .stride = patch, .name = name});
  return reshape(y, {-1, y.shape()[1] * y.shape()[2], width});
}

void build_vit(Graph& g, const Model& model) {
  const Config& config = model.config;
  const std::string architecture = config.architecture("ViTModel");
  const bool has_head = architecture == "ViTForImageClassification";
  if (!has_head && architecture != "ViTModel") {
    config.refuse_architecture(architecture, "ViTForImageClassification and ViTModel");
  }
  if (model.length > 0) config.fail("model_type", "vit takes images: it has no length of a text");
  const EncoderSizes s = encoder_sizes(config);
  const int64_t size = config.size({"image_size"}, 224);
  const int64_t patch = config.size({"patch_size"}, 16);
  if (size % patch != 0) config.fail("patch_size", "does not divide image_size");
  const ActivationFn act = activation(config, {"hidden_act"}, "gelu");
  model.weights.set_trunk("vit.");
  const std::string trunk = has_head ? "vit." : "";
  const int64_t layers =
      model.layers({"num_hidden_layers"}, trunk + "encoder.layer.", ".output.dense.bias");

  const Value image = g.input("pixel_values", {size, size, config.size({"num_channels"}, 3)});
  const Value tokens =
      vit_patches(image, patch, s.width, trunk + "embeddings.patch_embeddings.projection");
  const Value first = g.parameter(trunk + "embeddings.cls_token", {1, 1, s.width}, init::zeros());
  const Value places = g.parameter(trunk + "embeddings.position_embeddings",
                                   {1, 1 + tokens.shape()[1], s.width}, init::zeros());
  Value x = concat({broadcast_to(first, {tokens.shape()[0], 1, s.width}), tokens}, {.axis = 1});
  x = x + places;
  for (int64_t i = 0; i < layers; ++i) {
    x = vit_layer(x, s, act, fmt::format("{}encoder.layer.{}", trunk, i));
  }
  x = layer_norm(x, {.epsilon = s.epsilon, .name = trunk + "layernorm"});

  const auto first_token = [&] { return reshape(slice(x, 1, 0, 1), {-1, s.width}); };
  if (has_head) {
    const int64_t classes = model.weights.shape("classifier.weight")[0];
    g.output("logits", dense(first_token(), {.units = classes, .name = "classifier"}));
    return;
  }
  g.output("last_hidden_state", x);
  if (!model.weights.has(trunk + "pooler.dense.weight")) return;
  config.only("pooler_act", "tanh");
  config.only("pooler_output_size", s.width);
  g.output("pooler_output",
           tanh(dense(first_token(), {.units = s.width, .name = trunk + "pooler.dense"})));
}

}  // namespace

const Family& vit_family() {
  static const Family family{"vit", build_vit, {}};
  return family;
}

}  // namespace thimble::importer::hugging_face
