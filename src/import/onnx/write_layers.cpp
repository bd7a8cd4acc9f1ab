// Writing convolutions, products, norms, pools and attention.
#include <thimble/ops.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "import/attention_settings.h"
#include "import/onnx/write.h"

namespace thimble::importer::onnx {
namespace {

std::vector<int64_t> both(Pair pair) { return {pair.h, pair.w}; }

// What automatic padding adds before and behind along one side.
std::pair<int64_t, int64_t> automatic_padding(int64_t size, int64_t taps, int64_t stride) {
  const int64_t places = (size + stride - 1) / stride;
  const int64_t total = std::max<int64_t>((places - 1) * stride + taps - size, 0);
  return {total / 2, total - total / 2};
}

// {top, left, bottom, right}.
std::vector<int64_t> pads_of(const Padding& p, const Shape& image, Pair taps, Pair stride) {
  if (!p.automatic) return {p.top, p.left, p.bottom, p.right};
  const auto [top, bottom] = automatic_padding(image[1], taps.h, stride.h);
  const auto [left, right] = automatic_padding(image[2], taps.w, stride.w);
  return {top, left, bottom, right};
}

template <class Attrs>
void conv2d_of(Op& op) {
  const auto& a = op.attrs<Attrs>();
  const Shape& w = op.shape(1);
  const Pair taps{a.dilation.h * (w[1] - 1) + 1, a.dilation.w * (w[2] - 1) + 1};
  const Order order = channels_first(4);
  const std::string y =
      op.add("Conv", {op.input(0, order), op.input(1, order), op.bias()},
             {{"kernel_shape", attribute(std::vector<int64_t>{w[1], w[2]})},
              {"strides", attribute(both(a.stride))},
              {"dilations", attribute(both(a.dilation))},
              {"pads", attribute(pads_of(a.padding, op.shape(0), taps, a.stride))},
              {"group", attribute(a.groups)}});
  op.give(y, order, a.activation);
}

template <class Attrs>
void conv_transpose2d_of(Op& op) {
  const auto& a = op.attrs<Attrs>();
  const Shape& w = op.shape(1);
  const Pair taps{a.dilation.h * (w[1] - 1) + 1, a.dilation.w * (w[2] - 1) + 1};
  const Order order = channels_first(4);
  const std::string y =
      op.add("ConvTranspose", {op.input(0, order), op.input(1, order), op.bias()},
             {{"kernel_shape", attribute(std::vector<int64_t>{w[1], w[2]})},
              {"strides", attribute(both(a.stride))},
              {"dilations", attribute(both(a.dilation))},
              // The convolution that leads from the result to x has this padding.
              {"pads", attribute(pads_of(a.padding, op.result().shape, taps, a.stride))},
              {"output_padding", attribute(both(a.output_padding))},
              {"group", attribute(a.groups)}});
  op.give(y, order, a.activation);
}

Order swapped(int rank, bool swaps) {
  Order order = plain_order(rank);
  if (swaps && rank >= 2) {
    std::swap(order[static_cast<size_t>(rank) - 1], order[static_cast<size_t>(rank) - 2]);
  }
  return order;
}

void matmul_of(Op& op) {
  const auto& a = op.attrs<MatmulAttrs>();
  std::string y = op.add("MatMul", {op.input(0, swapped(op.rank(0), a.transpose_a)),
                                    op.input(1, swapped(op.rank(1), a.transpose_b))});
  if (op.has(2)) y = op.add("Add", {y, op.input(2)});
  op.give(y, plain_order(op.result().shape.rank()), a.activation);
}

// The weight is stored in a narrow type, and made f32 where it is used.
void frozen_dense_of(Op& op) {
  const bool transposes = op.attrs<FrozenDenseAttrs>().transpose_b;
  const Shape& w = op.shape(1);
  std::string weight;
  if (op.type(1).dtype == DType::i4) {
    weight = op.file().add_initializer(*op.file().graph().data(op.node().input(1)).name,
                                       {op.values(1).cast(DType::i8)});
  } else {
    weight = op.input(1);
  }
  weight = op.cast(weight, DType::f32);
  if (op.has(2)) {
    const int64_t groups = op.shape(2)[1];
    const std::string parts = op.reshape(weight, {w[0], groups, w[1] / groups});
    const std::string scales = op.reshape(op.input(2), {w[0], groups, 1});
    weight = op.reshape(op.add("Mul", {parts, scales}), w);
  }
  if (transposes) {
    weight = op.add("Transpose", {weight}, {{"perm", attribute(std::vector<int64_t>{1, 0})}});
  }
  std::string y = op.add("MatMul", {op.input(0), weight});
  if (op.has(3)) y = op.add("Add", {y, op.input(3)});
  op.give(y);
}

// Gemm takes a bias of integers, as an operator on rows alone.
void quantized_dense_of(Op& op) {
  const Activation activation = op.attrs<QuantizedDenseAttrs>().activation;
  const Order order = plain_order(op.rank(0));
  if (op.rank(0) == 2) {
    return op.give(
        op.add("Gemm", {op.input(0), op.input(1), op.bias()}, {{"transB", attribute(int64_t{1})}}),
        order, activation);
  }
  std::string y = op.add("MatMul", {op.input(0), op.input(1, swapped(2, true))});
  if (op.has(2)) y = op.add("Add", {y, op.bias()});
  op.give(y, order, activation);
}

// A vector of channels, or equal numbers where it is left out.
std::string channels_of(Op& op, int i, float usual, const Shape& shape) {
  if (op.has(i)) return op.input(i);
  return op.floats(std::vector<float>(static_cast<size_t>(shape.elements()), usual), shape);
}

void batch_norm_of(Op& op) {
  const auto& a = op.attrs<BatchNormInferenceAttrs>();
  const Order order = channels_first(op.rank(0));
  const Shape channels{op.shape(0)[-1]};
  const std::string y = op.add("BatchNormalization",
                               {op.input(0, order), channels_of(op, 1, 1.0F, channels),
                                channels_of(op, 2, 0.0F, channels), op.input(3), op.input(4)},
                               {{"epsilon", attribute(a.epsilon)}});
  op.give(y, order, a.activation);
}

Shape last_dims(const Shape& shape, int64_t count) {
  return Shape(std::vector<int64_t>(shape.dims().end() - count, shape.dims().end()));
}

void layer_norm_of(Op& op) {
  const auto& a = op.attrs<LayerNormAttrs>();
  op.give(op.add(
      "LayerNormalization",
      {op.input(0), channels_of(op, 1, 1.0F, last_dims(op.shape(0), a.dims)), op.optional(2)},
      {{"axis", attribute(-a.dims)}, {"epsilon", attribute(a.epsilon)}}));
}

std::string composed_rms_norm(Op& op, const RmsNormAttrs& a) {
  const std::string x = op.input(0);
  std::vector<int64_t> axes(static_cast<size_t>(a.dims));
  std::iota(axes.begin(), axes.end(), -a.dims);
  const std::string mean = op.add("ReduceMean", {op.add("Mul", {x, x}), op.integers(axes)});
  const std::string norm = op.add("Sqrt", {op.add("Add", {mean, op.number(a.epsilon)})});
  const std::string y = op.add("Div", {x, norm});
  return op.has(1) ? op.add("Mul", {y, op.input(1)}) : y;
}
void rms_norm_of(Op& op) {
  const auto& a = op.attrs<RmsNormAttrs>();
  if (op.file().draws()) return op.give(composed_rms_norm(op, a));
  op.give(op.add("RMSNormalization",
                 {op.input(0), channels_of(op, 1, 1.0F, last_dims(op.shape(0), a.dims))},
                 {{"axis", attribute(-a.dims)}, {"epsilon", attribute(a.epsilon)}}));
}

void group_norm_of(Op& op) {
  const auto& a = op.attrs<GroupNormAttrs>();
  const Order order = channels_first(op.rank(0));
  const Shape channels{op.shape(0)[-1]};
  op.give(op.add("GroupNormalization",
                 {op.input(0, order), channels_of(op, 1, 1.0F, channels),
                  channels_of(op, 2, 0.0F, channels)},
                 {{"num_groups", attribute(a.groups)}, {"epsilon", attribute(a.epsilon)}}),
          order);
}

void instance_norm_of(Op& op) {
  const Order order = channels_first(op.rank(0));
  const Shape channels{op.shape(0)[-1]};
  if (op.has(3)) op.fail("thimble writes it without running statistics");
  op.give(op.add("InstanceNormalization",
                 {op.input(0, order), channels_of(op, 1, 1.0F, channels),
                  channels_of(op, 2, 0.0F, channels)},
                 {{"epsilon", attribute(op.attrs<InstanceNormAttrs>().epsilon)}}),
          order);
}

Pair stride_of(Pair stride, Pair kernel) {
  return {stride.h == 0 ? kernel.h : stride.h, stride.w == 0 ? kernel.w : stride.w};
}

void max_pool_of(Op& op) {
  const auto& a = op.attrs<MaxPool2dAttrs>();
  const Pair stride = stride_of(a.stride, a.kernel);
  const Pair taps{a.dilation.h * (a.kernel.h - 1) + 1, a.dilation.w * (a.kernel.w - 1) + 1};
  const Order order = channels_first(4);
  op.give(op.add("MaxPool", {op.input(0, order)},
                 {{"kernel_shape", attribute(both(a.kernel))},
                  {"strides", attribute(both(stride))},
                  {"dilations", attribute(both(a.dilation))},
                  {"pads", attribute(pads_of(a.padding, op.shape(0), taps, stride))},
                  {"ceil_mode", attribute(int64_t{a.ceil_mode})}}),
          order);
}

template <class Attrs>
void average_pool_of(Op& op) {
  const auto& a = op.attrs<Attrs>();
  if constexpr (std::is_same_v<Attrs, AveragePool2dAttrs>) {
    if (a.divisor != 0) op.fail("such files have it without a divisor alone");
  }
  const Pair stride = stride_of(a.stride, a.kernel);
  const Order order = channels_first(4);
  op.give(op.add("AveragePool", {op.input(0, order)},
                 {{"kernel_shape", attribute(both(a.kernel))},
                  {"strides", attribute(both(stride))},
                  {"pads", attribute(pads_of(a.padding, op.shape(0), a.kernel, stride))},
                  {"ceil_mode", attribute(int64_t{a.ceil_mode})},
                  {"count_include_pad", attribute(int64_t{a.count_include_pad})}}),
          order);
}

void global_pool_of(Op& op) {
  const bool is_max = op.name() == "global_max_pool2d";
  const std::string y =
      op.add(is_max ? "GlobalMaxPool" : "GlobalAveragePool", {op.input(0, channels_first(4))});
  op.give(op.add("Flatten", {y}));
}

// Where the result divides the image.
void adaptive_average_pool_of(Op& op) {
  const Shape& x = op.shape(0);
  const Shape& y = op.result().shape;
  if (x[1] % y[1] != 0 || x[2] % y[2] != 0) {
    op.fail("such files have it for sizes that divide the image alone");
  }
  const std::vector<int64_t> window{x[1] / y[1], x[2] / y[2]};
  const Order order = channels_first(4);
  op.give(op.add("AveragePool", {op.input(0, order)},
                 {{"kernel_shape", attribute(window)}, {"strides", attribute(window)}}),
          order);
}

// Where the result divides the image.
void adaptive_max_pool_of(Op& op) {
  const Shape& x = op.shape(0);
  const Shape& y = op.result().shape;
  if (x[1] % y[1] != 0 || x[2] % y[2] != 0) {
    op.fail("such files have it for sizes that divide the image alone");
  }
  if (op.is_read(1)) op.fail("thimble writes it without the positions of the maxima");
  const std::vector<int64_t> window{x[1] / y[1], x[2] / y[2]};
  const Order order = channels_first(4);
  op.give(op.add("MaxPool", {op.input(0, order)},
                 {{"kernel_shape", attribute(window)}, {"strides", attribute(window)}}),
          order);
}

// Inputs: images or volumes, and where to read them; the grid's axes are those of ONNX.
void grid_sample_of(Op& op) {
  const auto& a = op.attrs<GridSampleOptions>();
  const Order order = channels_first(op.rank(0));
  const char* const mode = a.mode == GridMode::nearest   ? "nearest"
                           : a.mode == GridMode::bicubic ? "cubic"
                                                         : "linear";
  const char* const padding = a.padding == GridPadding::border       ? "border"
                              : a.padding == GridPadding::reflection ? "reflection"
                                                                     : "zeros";
  op.give(op.add("GridSample", {op.input(0, order), op.input(1)},
                 {{"mode", attribute(mode)},
                  {"padding_mode", attribute(padding)},
                  {"align_corners", attribute(int64_t{a.align_corners})}}),
          order);
}

void local_response_norm_of(Op& op) {
  const auto& a = op.attrs<LocalResponseNormOptions>();
  const Order order = channels_first(op.rank(0));
  if (a.size % 2 == 0) op.fail("such files have windows of an odd number of channels alone");
  op.give(op.add("LRN", {op.input(0, order)},
                 {{"size", attribute(a.size)},
                  {"alpha", attribute(a.alpha)},
                  {"beta", attribute(a.beta)},
                  {"bias", attribute(a.k)}}),
          order);
}

// Inputs: indices, the table.
void embedding_of(Op& op) {
  if (op.attrs<EmbeddingAttrs>().max_norm != 0.0) op.fail("such files do not scale long rows");
  op.give(op.add("Gather", {op.input(1), op.input(0)}, {{"axis", attribute(int64_t{0})}}));
}

// Of products and a softmax: softmax(scale q k^T + mask) v.
std::string composed_attention(Op& op, const AttentionSettings& a, const std::string& mask) {
  const Shape& q = op.shape(1);
  const Shape& k = op.shape(2);
  if (q[2] != k[2])
    op.fail("thimble writes it beside random numbers for as many heads of keys alone");
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::string scores = op.add("MatMul", {op.input(1, {0, 2, 1, 3}), op.input(2, {0, 2, 3, 1})});
  scores = op.add("Mul", {scores, op.number(a.scale)});
  if (a.causal) {
    std::vector<float> later;
    for (int64_t i = 0; i < q[1] * k[1]; ++i) later.push_back(i % k[1] > i / k[1] ? kNone : 0.0F);
    scores = op.add("Add", {scores, op.floats(later, {q[1], k[1]})});
  }
  if (op.has(4) && op.type(4).dtype == DType::f32) scores = op.add("Add", {scores, mask});
  if (op.has(4) && op.type(4).dtype != DType::f32) {
    scores = op.add("Where", {mask, scores, op.number(kNone)});
  }
  const std::string shares = op.add("Softmax", {scores}, {{"axis", attribute(int64_t{-1})}});
  return op.add("MatMul", {shares, op.input(3, {0, 2, 1, 3})});
}

// Inputs: random state, q, k, v, a mask.
void attention_of(Op& op) {
  const AttentionSettings a(op.node());
  const Order heads_first{0, 2, 1, 3};
  std::string mask;
  if (op.has(4)) {
    mask = op.type(4).dtype == DType::f32 ? op.input(4) : op.condition(4, plain_order(4));
    const int64_t queries = op.shape(1)[1];
    const int64_t keys = op.shape(2)[1];
    if (op.shape(4)[2] != queries || op.shape(4)[3] != keys) {
      mask = op.add("Expand", {mask, op.integers({1, 1, queries, keys})});
    }
  }
  if (op.file().draws()) return op.give(composed_attention(op, a, mask), heads_first);
  op.give(
      op.add("Attention",
             {op.input(1, heads_first), op.input(2, heads_first), op.input(3, heads_first), mask},
             {{"is_causal", attribute(int64_t{a.causal})}, {"scale", attribute(a.scale)}}),
      heads_first);
}

// Inputs: x [N, T, H, D] or [N, T, D], and a table [T, 2, pairs] of cosines and sines.
void rotate_pairs_of(Op& op) {
  const AttentionSettings a(op.node());
  const int rank = op.rank(0);
  if (rank > 4) op.fail("such files have it for at most 4 dimensions");
  if (op.file().draws()) op.fail("onnxruntime runs it in no file that draws random numbers");
  const Shape& x = op.shape(0);
  const int64_t steps = x[1];
  const int64_t pairs = op.shape(1)[2];
  const auto table = [&](double row) {
    return op.add("Gather", {op.input(1), op.number(row, DType::i64)},
                  {{"axis", attribute(int64_t{1})}});
  };
  std::vector<int64_t> places(static_cast<size_t>(steps));
  std::iota(places.begin(), places.end(), int64_t{0});
  const std::string all = op.add("Expand", {op.integers(places), op.sizes({x[0], steps})});
  Attributes attributes{{"interleaved", attribute(int64_t{a.interleaved})}};
  if (2 * pairs != x[-1]) attributes["rotary_embedding_dim"] = attribute(2 * pairs);
  if (rank == 3) attributes["num_heads"] = attribute(int64_t{1});
  const Order order = rank == 4 ? Order{0, 2, 1, 3} : plain_order(3);
  op.give(op.add("RotaryEmbedding", {op.input(0, order), table(0.0), table(1.0), all}, attributes),
          order);
}

void upsample_of(Op& op) {
  const auto& a = op.attrs<Upsample2dOptions>();
  const Shape& x = op.shape(0);
  const Shape& y = op.result().shape;
  if (a.scale != 0.0 &&
      (static_cast<double>(y[1]) != a.scale * static_cast<double>(x[1]) || a.scale_w != 0.0)) {
    op.fail("such files have it with the scale result / input alone");
  }
  Attributes attributes{{"mode", attribute("nearest")}};
  const char* places = "asymmetric";
  if (a.mode == Upsampling::nearest) attributes["nearest_mode"] = attribute("floor");
  if (a.mode == Upsampling::nearest_exact) {
    places = "half_pixel";
    attributes["nearest_mode"] = attribute("round_prefer_ceil");
  }
  if (a.mode == Upsampling::bilinear || a.mode == Upsampling::bicubic) {
    attributes["mode"] = attribute(a.mode == Upsampling::bilinear ? "linear" : "cubic");
    places = a.align_corners ? "align_corners" : "half_pixel";
  }
  attributes["coordinate_transformation_mode"] = attribute(places);
  const Order order = channels_first(4);
  const std::vector<float> scales{1.0F, 1.0F, static_cast<float>(y[1]) / static_cast<float>(x[1]),
                                  static_cast<float>(y[2]) / static_cast<float>(x[2])};
  const bool is_whole = y[1] % x[1] == 0 && y[2] % x[2] == 0;
  const std::vector<std::string> inputs =
      is_whole ? std::vector<std::string>{op.input(0, order), "", op.floats(scales, {4})}
               : std::vector<std::string>{op.input(0, order), "", "", op.sizes(ordered(y, order))};
  op.give(op.add("Resize", inputs, attributes), order);
}

}  // namespace

std::span<const WriteRule> layer_writers() {
  static const WriteRule rules[] = {
      {"conv2d", conv2d_of<Conv2dAttrs>},
      {"quantized_conv2d", conv2d_of<QuantizedConv2dAttrs>},
      {"conv_transpose2d", conv_transpose2d_of<ConvTranspose2dAttrs>},
      {"quantized_conv_transpose2d", conv_transpose2d_of<QuantizedConvTranspose2dAttrs>},
      {"quantized_dense", quantized_dense_of},
      {"matmul", matmul_of},
      {"frozen_dense", frozen_dense_of},
      {"batch_norm_inference", batch_norm_of},
      {"layer_norm", layer_norm_of},
      {"rms_norm", rms_norm_of},
      {"group_norm", group_norm_of},
      {"instance_norm", instance_norm_of},
      {"max_pool2d", max_pool_of},
      {"max_pool2d_inference", max_pool_of},
      {"average_pool2d", average_pool_of<AveragePool2dAttrs>},
      {"quantized_average_pool2d", average_pool_of<QuantizedAveragePool2dAttrs>},
      {"global_average_pool2d", global_pool_of},
      {"global_max_pool2d", global_pool_of},
      {"adaptive_average_pool2d", adaptive_average_pool_of},
      {"adaptive_max_pool2d", adaptive_max_pool_of},
      {"grid_sample", grid_sample_of},
      {"local_response_norm", local_response_norm_of},
      {"embedding", embedding_of},
      {"scaled_dot_product_attention", attention_of},
      {"rotate_pairs", rotate_pairs_of},
      {"upsample2d", upsample_of},
  };
  return rules;
}

}  // namespace thimble::importer::onnx
