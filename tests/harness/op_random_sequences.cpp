// Random ops of sequences, of indices, and what enlarges images.
#include <thimble/ops.h>

#include "harness/op_random_builder.h"

namespace thimble::test {
namespace {

constexpr int64_t kMostInSequence = 60;  // numbers of a sample: attention and recurrence are slow

bool is_closed(const Shape& shape) {
  const std::vector<int64_t>& dims = shape.dims();
  return dims.size() >= 2 && dims[0] == kBatch &&
         std::none_of(dims.begin() + 1, dims.end(), RandomBuilder::is_open);
}

// [N, T, features]; none where there is nothing to make it of.
Value sequence(RandomBuilder& b) {
  const Value x = b.any([](const Value& v) { return is_closed(v.shape()); });
  if (!x) return {};
  const int64_t all = x.shape().elements() / kBatch;
  const int64_t features = x.shape()[-1];
  if (all == 0 || all > kMostInSequence) return {};
  return reshape(x, {-1, all / features, features});
}

}  // namespace

bool add_attention(RandomBuilder& b) {
  const Value x = sequence(b);
  if (!x) return false;
  const int64_t features = x.shape()[2];
  const int64_t heads = features % 2 == 0 ? b.between(1, 2) : 1;
  const bool causal = b.coin();
  const double dropout = b.coin() ? 0.2 : 0.0;
  if (b.coin()) {
    b.add(multi_head_attention(x, {.heads = heads,
                                   .kv_heads = b.between(1, heads),
                                   .causal = causal,
                                   .dropout = dropout,
                                   .bias = b.coin()}));
    return true;
  }
  const Value q = reshape(x, {-1, x.shape()[1], heads, features / heads});
  const AttentionOptions o{.causal = causal, .dropout = dropout};
  const Value mask = b.coin() ? Value() : b.parameter({1, 1, 1, x.shape()[1]});
  b.add(scaled_dot_product_attention(q, tanh(q), q, mask, o));
  return true;
}

bool add_recurrent_layer(RandomBuilder& b) {
  const Value x = sequence(b);
  if (!x) return false;
  const int64_t units = b.between(1, 3);
  const int64_t layers = b.between(1, 2);
  const bool both = b.coin();
  const bool bias = b.coin();
  const auto with = [&](auto options) {
    options.units = units;
    options.layers = layers;
    options.bidirectional = both;
    options.bias = bias;
    return options;
  };
  switch (b.below(3)) {
    case 0: {
      const LstmResult r = lstm(x, with(LstmOptions{}));
      b.add(r.y);
      b.add(r.c);
      return true;
    }
    case 1:
      b.add(gru(x, with(GruOptions{})).y);
      return true;
    default:
      b.add(rnn(x, with(RnnOptions{})).h);
      return true;
  }
}

bool add_rows_by_index(RandomBuilder& b) {
  const Value x = b.any([](const Value& v) { return is_closed(v.shape()); });
  if (x && b.below(3) == 0) {
    const std::vector<int64_t>& dims = x.shape().dims();
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    b.add(gather(x, b.indices(sample, dims.back())));
    return true;
  }
  const int64_t rows = b.between(1, 4);
  const Value index = b.indices({b.between(2, 7)}, rows);
  const Value found = embedding(index, {.embeddings = rows, .width = b.between(1, 5)});
  b.add(b.below(4) == 0 ? found : dense(found, {.units = b.between(1, 4), .bias = b.coin()}));
  return true;
}

bool add_larger_image(RandomBuilder& b) {
  const Value x = b.image();
  if (!x) return false;
  const auto mode = static_cast<Upsampling>(b.below(4));
  // Where pixels are not mixed, rounding of other sizes could choose another one.
  const bool mixes = mode == Upsampling::bilinear || mode == Upsampling::bicubic;
  b.add(upsample2d(
      x,
      {.scale = mixes && b.coin() ? 1.5 : 2.0, .mode = mode, .align_corners = mixes && b.coin()}));
  return true;
}

}  // namespace thimble::test
