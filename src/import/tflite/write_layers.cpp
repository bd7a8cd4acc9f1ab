// Convolutions, dense layers, pools and what normalises.
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "import/tflite/write.h"

namespace thimble::tflite {
namespace {

// The window of a convolution or pool along height (0) or width (1).
struct Side {
  int64_t size;    // of the image
  int64_t places;  // of the result
  int64_t taps;    // from the first to the last tap of the window
  int64_t stride;
  int64_t before;
  int64_t after;
};

struct Sides {
  Side h;
  Side w;
};

int64_t same_total(const Side& side) {
  const int64_t places = (side.size + side.stride - 1) / side.stride;
  return std::max<int64_t>((places - 1) * side.stride + side.taps - side.size, 0);
}

bool is_same(const Side& side) {
  const int64_t total = same_total(side);
  return side.before == total / 2 && side.after == total - total / 2 &&
         side.places == (side.size + side.stride - 1) / side.stride;
}
bool is_valid(const Side& side) {
  return side.before == 0 && side.after == 0 &&
         side.places == (side.size - side.taps) / side.stride + 1;
}

Sides sides_of(const Shape& x, const Shape& y, Pair taps, Pair stride, const thimble::Padding& p) {
  Sides sides{{x[1], y[1], taps.h, stride.h, p.top, p.bottom},
              {x[2], y[2], taps.w, stride.w, p.left, p.right}};
  for (Side* const side : {&sides.h, &sides.w}) {
    if (!p.automatic) continue;
    const int64_t total = same_total(*side);
    side->before = total / 2;
    side->after = total - total / 2;
  }
  return sides;
}

// The padding by which an operator gives these sides.
struct Padded {
  int x;
  Padding padding;
};

// x within an image that is larger by these sides. outside: the number around it; none: 0.
Padded within(Op& op, const Sides& sides, std::optional<double> outside) {
  std::vector<int64_t> rows{0, 0};
  std::vector<int64_t> sizes = op.shape(0).dims();
  for (const Side& side : {sides.h, sides.w}) {
    const int64_t reach = (side.places - 1) * side.stride + side.taps;
    const int64_t after = std::max<int64_t>(reach - side.size - side.before, 0);
    sizes[rows.size() / 2] += side.before + after;
    rows.insert(rows.end(), {side.before, after});
  }
  rows.insert(rows.end(), {0, 0});
  const int table = op.numbers(rows, {4, 2});
  const ir::TensorType type{op.type(0).dtype, Shape(sizes), op.type(0).quantization};
  const int x = op.input(0);
  const int y = op.between(type);
  const auto empty = CreateEmptyOptions(op.builder());
  if (!outside) {
    op.add(34, op.options(BuiltinOptions_PadOptions, empty), {x, table}, {y});
  } else {
    op.add(60, op.options(BuiltinOptions_PadV2Options, empty), {x, table, op.like_input(*outside)},
           {y});
  }
  return {y, Padding_VALID};
}

// x and a padding that give these sides; where they are neither SAME nor VALID, PAD widens x.
Padded padded(Op& op, const Sides& sides, std::optional<double> outside = {}) {
  if (is_same(sides.h) && is_same(sides.w)) return {op.input(0), Padding_SAME};
  if (is_valid(sides.h) && is_valid(sides.w)) return {op.input(0), Padding_VALID};
  return within(op, sides, outside);
}

template <class Attrs>
void convolution(Op& op) {
  const Attrs& a = op.attrs<Attrs>();
  const Shape& w = op.shape(1);
  const Pair taps{a.dilation.h * (w[1] - 1) + 1, a.dilation.w * (w[2] - 1) + 1};
  const Padded x = padded(op, sides_of(op.shape(0), op.result().shape, taps, a.stride, a.padding));
  const bool int8 = op.is_int8();
  const int64_t channels = op.shape(0)[3];
  const int bias = op.bias(2, w[0], 0, 1);
  const auto sh = static_cast<int32_t>(a.stride.h);
  const auto sw = static_cast<int32_t>(a.stride.w);
  const auto dh = static_cast<int32_t>(a.dilation.h);
  const auto dw = static_cast<int32_t>(a.dilation.w);
  if (a.groups == channels && w[3] == 1 && channels > 1) {
    const auto table = CreateDepthwiseConv2DOptions(op.builder(), x.padding, sw, sh,
                                                    static_cast<int32_t>(w[0] / channels),
                                                    function_of(a.activation), dw, dh);
    const int version = int8 ? 3 : dh * dw > 1 ? 2 : 1;
    return op.add(4, version, op.options(BuiltinOptions_DepthwiseConv2DOptions, table),
                  {x.x, op.input(1, Written::depthwise), bias}, {op.output()});
  }
  const auto table =
      CreateConv2DOptions(op.builder(), x.padding, sw, sh, function_of(a.activation), dw, dh);
  op.add(3, int8 ? 3 : 1, op.options(BuiltinOptions_Conv2DOptions, table), {x.x, op.input(1), bias},
         {op.output()});
}

template <class Attrs>
void transposed_convolution(Op& op) {
  const Attrs& a = op.attrs<Attrs>();
  const Shape& w = op.shape(1);
  if (a.groups != 1 || a.dilation != Pair(1)) {
    op.fail("such files have it without groups and dilation alone");
  }
  // The forward convolution leads from the result to x.
  const Shape& x = op.shape(0);
  const Shape& y = op.result().shape;
  const Sides sides{{y[1], x[1], w[1], a.stride.h, a.padding.top, 0},
                    {y[2], x[2], w[2], a.stride.w, a.padding.left, 0}};
  Padding padding = Padding_VALID;
  for (const Side& side : {sides.h, sides.w}) {
    const int64_t total =
        std::max<int64_t>((side.places - 1) * side.stride + side.taps - side.size, 0);
    if (!a.padding.automatic && side.before != total / 2) {
      op.fail("such files have it with the padding of SAME or VALID alone");
    }
    if (total > 0) padding = Padding_SAME;
  }
  const bool fits = padding == Padding_VALID || (x[1] == (y[1] + a.stride.h - 1) / a.stride.h &&
                                                 x[2] == (y[2] + a.stride.w - 1) / a.stride.w);
  if (!fits) op.fail("such files have it with the padding of SAME or VALID alone");
  const auto table =
      CreateTransposeConvOptions(op.builder(), padding, static_cast<int32_t>(a.stride.w),
                                 static_cast<int32_t>(a.stride.h), function_of(a.activation));
  const int version = a.activation != Activation::none ? 4 : 3;
  op.add(67, version, op.options(BuiltinOptions_TransposeConvOptions, table),
         {op.numbers(written_sizes(y)), op.input(1, Written::transposed), op.input(0),
          op.bias(2, w[3], 0, 1)},
         {op.output()});
}

void fully_connected(Op& op, int weight, int bias, Activation activation) {
  const bool keeps = op.shape(0).rank() != 2;
  const auto table = CreateFullyConnectedOptions(op.builder(), function_of(activation), 0, keeps);
  const int version = keeps ? 5 : op.is_int8() ? 4 : 1;
  op.add(9, version, op.options(BuiltinOptions_FullyConnectedOptions, table),
         {op.input(0), weight, bias}, {op.output()});
}

void product(Op& op) {
  const auto& a = op.attrs<MatmulAttrs>();
  if (op.is_constant(1) && op.shape(1).rank() == 2 && !a.transpose_a && op.shape(0).rank() >= 2) {
    const int weight = op.input(1, a.transpose_b ? Written::same : Written::transposed);
    const int64_t units = op.shape(1)[a.transpose_b ? 0 : 1];
    return fully_connected(op, weight, op.bias(2, units, 0, 1), a.activation);
  }
  if (op.shape(0).rank() < 2 || op.shape(1).rank() < 2) {
    op.fail("such files have products of matrices alone");
  }
  const auto table = CreateBatchMatMulOptions(op.builder(), a.transpose_a, a.transpose_b);
  const bool has_more = op.has(2) || a.activation != Activation::none;
  const int y = has_more ? op.between(op.result().shape) : op.output();
  op.add(126, op.options(BuiltinOptions_BatchMatMulOptions, table), {op.input(0), op.input(1)},
         {y});
  if (!has_more) return;
  const int bias = op.has(2) ? op.input(2) : op.number(0.0);
  op.add(0,
         op.options(BuiltinOptions_AddOptions,
                    CreateAddOptions(op.builder(), function_of(a.activation))),
         {y, bias}, {op.output()});
}

void quantized_product(Op& op) {
  fully_connected(op, op.rows(1), op.bias(2, op.shape(1)[0], 0, 1, true),
                  op.attrs<QuantizedDenseAttrs>().activation);
}

Pair stride_of(Pair stride, Pair kernel) {
  return {stride.h == 0 ? kernel.h : stride.h, stride.w == 0 ? kernel.w : stride.w};
}

void add_pool(Op& op, int code, Pair kernel, Pair stride, const Padded& x) {
  const auto table = CreatePool2DOptions(
      op.builder(), x.padding, static_cast<int32_t>(stride.w), static_cast<int32_t>(stride.h),
      static_cast<int32_t>(kernel.w), static_cast<int32_t>(kernel.h));
  op.add(code, op.options(BuiltinOptions_Pool2DOptions, table), {x.x}, {op.output()});
}

void max_pool(Op& op) {
  const auto& a = op.attrs<MaxPool2dAttrs>();
  if (a.dilation != Pair(1)) op.fail("such files have it without dilation alone");
  const Pair stride = stride_of(a.stride, a.kernel);
  const Sides sides = sides_of(op.shape(0), op.result().shape, a.kernel, stride, a.padding);
  add_pool(op, 17, a.kernel, stride,
           padded(op, sides, op.is_int8() ? -128.0 : std::numeric_limits<float>::lowest()));
}

template <class Attrs>
void average_pool(Op& op) {
  const Attrs& a = op.attrs<Attrs>();
  if constexpr (std::is_same_v<Attrs, AveragePool2dAttrs>) {
    if (a.divisor != 0) op.fail("such files have it without a divisor alone");
  }
  const Pair stride = stride_of(a.stride, a.kernel);
  const Sides sides = sides_of(op.shape(0), op.result().shape, a.kernel, stride, a.padding);
  const bool valid = is_valid(sides.h) && is_valid(sides.w);
  const bool same = is_same(sides.h) && is_same(sides.w);
  if (valid || (same && !a.count_include_pad)) {
    return add_pool(op, 1, a.kernel, stride, {op.input(0), valid ? Padding_VALID : Padding_SAME});
  }
  if (!a.count_include_pad || a.ceil_mode || op.is_int8()) {
    op.fail("such files have its padding as SAME, which does not count, alone");
  }
  add_pool(op, 1, a.kernel, stride, within(op, sides, {}));  // zeros that count
}

// y = x * scale + shift with constants along the last axis.
void scaled(Op& op, const std::vector<float>& scale, const std::vector<float>& shift,
            Activation activation) {
  const Shape channels{static_cast<int64_t>(scale.size())};
  const int product = op.between(op.result().shape);
  op.add(18, op.options(BuiltinOptions_MulOptions, CreateMulOptions(op.builder())),
         {op.input(0), op.floats(scale, channels)}, {product});
  op.add(0,
         op.options(BuiltinOptions_AddOptions,
                    CreateAddOptions(op.builder(), function_of(activation))),
         {product, op.floats(shift, channels)}, {op.output()});
}

// x, gamma, beta, mean, variance.
void batch_norm(Op& op) {
  const auto& a = op.attrs<BatchNormInferenceAttrs>();
  const auto size = static_cast<size_t>(op.shape(0)[-1]);
  const auto values = [&](int i, float usual) {
    if (!op.has(i)) return std::vector<float>(size, usual);
    if (!op.is_constant(i)) op.fail("its parameters must be known");
    return op.values(i).floats();
  };
  std::vector<float> scale = values(1, 1.0F);
  std::vector<float> shift = values(2, 0.0F);
  const std::vector<float> mean = values(3, 0.0F);
  const std::vector<float> variance = values(4, 1.0F);
  for (size_t c = 0; c < size; ++c) {
    const double by =
        static_cast<double>(scale[c]) / std::sqrt(static_cast<double>(variance[c]) + a.epsilon);
    shift[c] =
        static_cast<float>(static_cast<double>(shift[c]) - static_cast<double>(mean[c]) * by);
    scale[c] = static_cast<float>(by);
  }
  scaled(op, scale, shift, a.activation);
}

void affine_of(Op& op) {
  const auto& a = op.attrs<AffineAttrs>();
  scaled(op, {static_cast<float>(a.scale)}, {static_cast<float>(a.shift)}, Activation::none);
}

// (x - mean) / sqrt(mean of its square + epsilon) over axes of a tensor of this shape; the mean is
// left in place for root mean square norms. y: the tensor that it becomes.
void normalised(Op& op, int x, const Shape& shape, const std::vector<int64_t>& axes, double epsilon,
                bool centers, int y) {
  auto& builder = op.builder();
  std::vector<int64_t> sizes = shape.dims();
  for (const int64_t axis : axes) sizes[static_cast<size_t>(axis)] = 1;
  const Shape one(sizes);
  const auto reducer = [&] {
    return op.options(BuiltinOptions_ReducerOptions, CreateReducerOptions(builder, true));
  };
  const int reduced = op.numbers(axes);
  if (centers) {
    const int mean = op.between(one);
    const int rest = op.between(shape);
    op.add(40, reducer(), {x, reduced}, {mean});
    op.add(41, op.options(BuiltinOptions_SubOptions, CreateSubOptions(builder)), {x, mean}, {rest});
    x = rest;
  }
  const int squares = op.between(shape);
  const int variance = op.between(one);
  const int above = op.between(one);
  const int root = op.between(one);
  const auto none = op.options(BuiltinOptions_NONE, flatbuffers::Offset<EmptyOptions>());
  op.add(18, op.options(BuiltinOptions_MulOptions, CreateMulOptions(builder)), {x, x}, {squares});
  op.add(40, reducer(), {squares, reduced}, {variance});
  op.add(0, op.options(BuiltinOptions_AddOptions, CreateAddOptions(builder)),
         {variance, op.number(epsilon)}, {above});
  op.add(76, none, {above}, {root});
  op.add(18, op.options(BuiltinOptions_MulOptions, CreateMulOptions(builder)), {x, root}, {y});
}

// Where a norm leaves its numbers before input 1 scales and input `beta` shifts them; beta: -1 for
// a norm without.
int unscaled(Op& op, int beta) {
  const bool is_last = !op.has(1) && (beta < 0 || !op.has(beta));
  return is_last ? op.output() : op.between(op.result().shape);
}
void scale_and_shift(Op& op, int y, int beta) {
  auto& builder = op.builder();
  const bool shifts = beta >= 0 && op.has(beta);
  if (op.has(1)) {
    const int product = shifts ? op.between(op.result().shape) : op.output();
    op.add(18, op.options(BuiltinOptions_MulOptions, CreateMulOptions(builder)), {y, op.input(1)},
           {product});
    y = product;
  }
  if (!shifts) return;
  op.add(0, op.options(BuiltinOptions_AddOptions, CreateAddOptions(builder)), {y, op.input(beta)},
         {op.output()});
}

void row_norm(Op& op, int64_t dims, double epsilon, bool centers, int beta) {
  if (dims != 1) op.fail("thimble writes it over the last dimension alone");
  const Shape& shape = op.result().shape;
  const int y = unscaled(op, beta);
  normalised(op, op.input(0), shape, {shape.rank() - 1}, epsilon, centers, y);
  scale_and_shift(op, y, beta);
}

void layer_norm_of(Op& op) {
  const auto& a = op.attrs<LayerNormAttrs>();
  row_norm(op, a.dims, a.epsilon, true, 2);
}
void rms_norm_of(Op& op) {
  const auto& a = op.attrs<RmsNormAttrs>();
  row_norm(op, a.dims, a.epsilon, false, -1);
}

// The channels of a group and all places, of x as [N, places, groups, channels of a group].
void group_norm_of(Op& op) {
  const auto& a = op.attrs<GroupNormAttrs>();
  const Shape& x = op.shape(0);
  int64_t places = 1;
  for (int axis = 1; axis + 1 < x.rank(); ++axis) places *= x[axis];
  const Shape grouped{x[0], places, a.groups, x[-1] / a.groups};
  const int z = op.between(grouped);
  normalised(op, op.reshaped(op.input(0), grouped), grouped, {1, 3}, a.epsilon, true, z);
  scale_and_shift(op, op.reshaped(z, x, unscaled(op, 2)), 2);
}

void instance_norm_of(Op& op) {
  if (op.has(3)) op.fail("thimble writes it without running statistics");
  const Shape& x = op.shape(0);
  std::vector<int64_t> axes;
  for (int axis = 1; axis + 1 < x.rank(); ++axis) axes.push_back(axis);
  const int y = unscaled(op, 2);
  normalised(op, op.input(0), x, axes, op.attrs<InstanceNormAttrs>().epsilon, true, y);
  scale_and_shift(op, y, 2);
}

// Both bound the norm of a vector; the operator bounds its square by 1e-6.
constexpr double kLeastNorm = 1e-3;

void normalize_of(Op& op) {
  const auto& a = op.attrs<NormalizeOptions>();
  const bool is_last = a.axis == -1 || a.axis == op.shape(0).rank() - 1;
  if (a.p != 2.0 || !is_last || a.epsilon > kLeastNorm) {
    op.fail("such files have it with p = 2 over the last dimension alone");
  }
  op.add(11, op.options(BuiltinOptions_L2NormOptions, CreateEmptyOptions(op.builder())),
         {op.input(0)}, {op.output()});
}

void local_response_norm_of(Op& op) {
  const auto& a = op.attrs<LocalResponseNormOptions>();
  if (a.size % 2 != 0) op.fail("such files have it with windows of even sizes alone");
  const auto table = CreateLocalResponseNormalizationOptions(
      op.builder(), static_cast<int32_t>(a.size / 2), static_cast<float>(a.k),
      static_cast<float>(a.alpha / static_cast<double>(a.size)), static_cast<float>(a.beta));
  op.add(13, op.options(BuiltinOptions_LocalResponseNormalizationOptions, table), {op.input(0)},
         {op.output()});
}

}  // namespace

std::span<const WriteRule> layer_writers() {
  static const WriteRule rules[] = {
      {"conv2d", convolution<Conv2dAttrs>},
      {"quantized_conv2d", convolution<QuantizedConv2dAttrs>},
      {"conv_transpose2d", transposed_convolution<ConvTranspose2dAttrs>},
      {"quantized_conv_transpose2d", transposed_convolution<QuantizedConvTranspose2dAttrs>},
      {"matmul", product},
      {"quantized_dense", quantized_product},
      {"max_pool2d", max_pool},
      {"max_pool2d_inference", max_pool},
      {"average_pool2d", average_pool<AveragePool2dAttrs>},
      {"quantized_average_pool2d", average_pool<QuantizedAveragePool2dAttrs>},
      {"batch_norm_inference", batch_norm},
      {"affine", affine_of},
      {"normalize", normalize_of},
      {"local_response_norm", local_response_norm_of},
      {"layer_norm", layer_norm_of},
      {"rms_norm", rms_norm_of},
      {"group_norm", group_norm_of},
      {"instance_norm", instance_norm_of},
  };
  return rules;
}

}  // namespace thimble::tflite
