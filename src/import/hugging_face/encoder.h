// What the encoders BERT and ViT share.
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <string>

#include "import/hugging_face/model.h"

namespace thimble::importer::hugging_face {

struct EncoderSizes {
  int64_t width = 0;
  int64_t heads = 0;
  int64_t inner = 0;
  double epsilon = 0.0;
  bool qkv_bias = true;
};
// Throws Error.
[[nodiscard]] EncoderSizes encoder_sizes(const Config& config);

// Attention of x, [N, T, D], to itself, with the layers <qkv>.query, .key, .value and <output>.
// mask: u8 [N, 1, 1, T], 0 hides a token; or none.
[[nodiscard]] Value encoder_attention(Value x, Value mask, const EncoderSizes& sizes,
                                      const std::string& qkv, const std::string& output);

}  // namespace thimble::importer::hugging_face
