#include <thimble/ops/conv2d.h>
#include <thimble/ops/conv2d_input_grad.h>
#include <thimble/ops/conv2d_weight_grad.h>
#include <thimble/ops/quantized_conv2d.h>
#include <thimble/ops/sum_to.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "ops/families/conv/trained.h"
#include "ops/families/unary/activation_grad.h"
#include "simd/conv.h"

#define THIMBLE_OP conv2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::conv2d_impl {
namespace {

Convolution convolution(const Conv2dAttrs& attrs, const Shape& weight) {
  return convolution_of(attrs, image_size(weight));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<Conv2dAttrs>();
  check_image(c, 0);
  c.require_rank(1, 4);
  const Shape& x = c.shape(0);
  const int64_t channels = c.shape(1)[0];
  check_weights(c, attrs.groups, channels, x[3], "output", "input");
  check_bias(c, channels);
  const Window window = convolution(attrs, c.shape(1)).window;
  check_window(c, window);
  const Pair places = window_places(c, window, image_size(x));
  return {{DType::f32, {x[0], places.h, places.w, channels}}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<Conv2dAttrs>();
  conv2d_dims d = conv_sizes(convolution(attrs, c.in(1)), c.in(0), c.out(), image_size(c.in(0)));
  d.activation = kernel_activation_of(attrs.activation);
  return d;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<Conv2dAttrs>();
  const Value x = c.input(0);
  const Value weight = c.input(1);
  const Value dy = activation_grad(attrs.activation, c.grad(), c.output());
  std::vector<Value> grads(3);
  // The weight gradient is computed first: the input is not needed after it.
  if (c.need(1)) {
    const TrainedChannels trained = trained_channels(x, dy, weight, attrs.groups);
    grads[1] = conv2d_weight_grad(trained.x, trained.dy,
                                  {.kernel = image_size(weight.shape()),
                                   .stride = attrs.stride,
                                   .padding = attrs.padding,
                                   .dilation = attrs.dilation,
                                   .groups = trained.groups,
                                   .whole_channels = trained.whole_channels});
  }
  if (c.need(2)) grads[2] = sum_to(dy, c.input(2).shape());
  if (c.need(0)) {
    grads[0] = conv2d_input_grad(dy, weight,
                                 {.size = image_size(x.shape()),
                                  .stride = attrs.stride,
                                  .padding = attrs.padding,
                                  .dilation = attrs.dilation,
                                  .groups = attrs.groups});
  }
  return grads;
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  const auto& attrs = c.attrs.as<Conv2dAttrs>();
  return {quantized_conv2d(c.input(0), c.input(1), c.input(2),
                           {.stride = attrs.stride,
                            .padding = attrs.padding,
                            .dilation = attrs.dilation,
                            .groups = attrs.groups,
                            .activation = attrs.activation,
                            .scale = c.scale,
                            .zero_point = c.zero_point,
                            .requantization = c.requantization})};
}

const OpDef& conv2d_op() {
  static const OpDef def{
      .name = "conv2d",
      .signature{
          .doc =
              "2-D convolution of images: y[n, p, q, k] = act(sum over r, s, c of x[n, p*stride + "
              "r*dilation - padding, ..., c] w[k, r, s, c] + bias[k]), zeros outside the image.",
          .example = "auto y = conv2d(x, {.channels = 8, .kernel = 3, .stride = 2, .padding = 1});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                     {"weight", "[K, kh, kw, C / groups]"},
                     {"bias", "[K]", true}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, K]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<Conv2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.fuse_activation = fuse_activation<Conv2dAttrs>},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return conv2d_workspace_bytes(p.as<conv2d_dims>(), threads);
              },
          .flops = conv_flops,
          .fast_flops = fast_conv_flops<simd::conv_fast_flops>,
          .ref = ir::kernel_fn<&f32::conv2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::conv2d_ref>(),
          .fast = ir::kernel_fn<&conv2d_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .quantized{
          .build = quantized,
          .weights = [](const ir::KernelContext&) -> std::optional<ir::WeightLayout> {
            return ir::WeightLayout{};
          },
          .rescales = true,
      },
      .layer =
          [](const ir::KernelContext& c) {
            return conv_parameters(c, c.attrs.as<Conv2dAttrs>().groups);
          },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::conv2d_impl

THIMBLE_OP_FOLDER(conv2d) {
  static const OpDef* const defs[] = {&conv2d_op()};
  return defs;
}

namespace thimble {

void describe(Conv2dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set");
  v.field("kernel", o.kernel, "height and width of the window");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding, "zeros around the image");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(Conv2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "places the window moves at a time");
  v.field("padding", a.padding, "zeros around the image");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "applied to the result");
}

Value conv2d(Value x, Value weight, Value bias, const Conv2dAttrs& attrs) {
  return x.graph().add1(ops::conv2d_impl::conv2d_op(), ir::Attrs::of(attrs), {x, weight, bias});
}

Value conv2d(Value x, const Conv2dOptions& options) {
  ops::check_layer("conv2d", x.shape(), options.channels, options.kernel, options.groups);
  const ir::LayerScope layer(x.graph(), "conv2d", options.name);
  const Shape weight_shape{options.channels, options.kernel.h, options.kernel.w,
                           x.shape()[3] / options.groups};
  const Value weight = ops::layer_parameter(layer, x, "weight", weight_shape, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(
        layer, x, "bias", {options.channels},
        ops::bias_rule(options.bias_init, weight_shape.elements() / options.channels));
  }
  return conv2d(x, weight, bias,
                {.stride = options.stride,
                 .padding = options.padding,
                 .dilation = options.dilation,
                 .groups = options.groups});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(conv2d) {
  static const FunctionDef def{
      .name = "conv2d",
      .doc = "A convolution layer over images.",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, channels]", .batch_rank = 4}},
      .parameters = {{"weight", "[channels, kh, kw, C / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv2dOptions>(),
      .required = {"channels"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {conv2d(in[0], options_as<Conv2dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
