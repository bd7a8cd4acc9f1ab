#include "import/hugging_face/encoder.h"

#include <thimble/ops.h>

namespace thimble::importer::hugging_face {

EncoderSizes encoder_sizes(const Config& config) {
  const EncoderSizes s{.width = config.size({"hidden_size"}),
                       .heads = config.size({"num_attention_heads"}),
                       .inner = config.size({"intermediate_size"}),
                       .epsilon = config.number({"layer_norm_eps"}, 1e-12),
                       .qkv_bias = config.flag("qkv_bias", true)};
  if (s.width % s.heads != 0) config.fail("num_attention_heads", "does not divide hidden_size");
  return s;
}

Value encoder_attention(Value x, Value mask, const EncoderSizes& sizes, const std::string& qkv,
                        const std::string& output) {
  const int64_t tokens = x.shape()[1];
  const auto part = [&](const char* end) {
    const Value y = dense(x, {.units = sizes.width, .bias = sizes.qkv_bias, .name = qkv + end});
    return reshape(y, {-1, tokens, sizes.heads, sizes.width / sizes.heads});
  };
  const Value q = part(".query");
  const Value k = part(".key");
  const Value v = part(".value");
  const Value y = scaled_dot_product_attention(q, k, v, mask);
  return dense(reshape(y, {-1, tokens, sizes.width}), {.units = sizes.width, .name = output});
}

}  // namespace thimble::importer::hugging_face
