#include <thimble/ops/adaptive_average_pool2d.h>
#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/reshape.h>

#include "ir/function_def.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/sequence.h"
#include "ops/families/conv/volume.h"
#include "ops/families/update/adaptive.h"
#include "ops/families/update/adaptive_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP adaptive_average_pool2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::adaptive_average_pool2d_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void adaptive_average_pool2d_simd(float* y, const float* x, const adaptive_dims* d,
                                  parallel::ThreadPool& pool);
void adaptive_average_pool2d_grad_simd(float* dx, const float* dy, const adaptive_dims* d,
                                       parallel::ThreadPool& pool);

namespace {

struct AdaptiveAveragePool2dGradAttrs {
  Pair input;  // height and width of the pooling's input
};

void describe(AdaptiveAveragePool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "height and width of the pooling's input");
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "adaptive_average_pool2d_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of adaptive_average_pool2d: dx = the sum of dy / cells over the "
                 "windows that cover each cell.",
          .inputs = {{"dy", "[N, P, Q, C]"}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<AdaptiveAveragePool2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        const Pair input = c.attrs.as<AdaptiveAveragePool2dGradAttrs>().input;
        c.require(input.h >= 1 && input.w >= 1, "expected images of at least 1 by 1");
        return {{DType::f32, {c.shape(0)[0], input.h, input.w, c.shape(0)[3]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return adaptive_dims_of(c.out(), c.in(0));
          },
          .ref = ir::kernel_fn<&f32::adaptive_average_pool2d_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::adaptive_average_pool2d_grad_ref>(),
          .fast = ir::kernel_fn<&adaptive_average_pool2d_grad_simd>(),
      },
  };
  return def;
}

const OpDef& adaptive_average_pool2d_op() {
  static const OpDef def{
      .name = "adaptive_average_pool2d",
      .signature{
          .doc = "Means over windows that divide an image of any size as evenly as they can: place "
                 "i of a side of P covers the cells floor(i * H / P) to ceil((i + 1) * H / P).",
          .example = "auto y = adaptive_average_pool2d(x, {.size = 7});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<AdaptiveAveragePool2dOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        const Shape& x = c.shape(0);
        const Pair size =
            adaptive_size(c, c.attrs.as<AdaptiveAveragePool2dOptions>().size, image_size(x));
        return {{DType::f32, {x[0], size.h, size.w, x[3]}}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const AdaptiveAveragePool2dGradAttrs attrs{image_size(c.input(0).shape())};
        return {c.grad().graph().add1(grad_op(), ir::Attrs::of(attrs), {c.grad()})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return adaptive_dims_of(c.in(0), c.out());
          },
          .ref = ir::kernel_fn<&f32::adaptive_average_pool2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::adaptive_average_pool2d_ref>(),
          .fast = ir::kernel_fn<&adaptive_average_pool2d_simd>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::adaptive_average_pool2d_impl

THIMBLE_OP_FOLDER(adaptive_average_pool2d) {
  static const OpDef* const defs[] = {&adaptive_average_pool2d_op(), &grad_op()};
  return defs;
}

namespace thimble {

void describe(AdaptiveAveragePool1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "length of the result; 0: as x");
}

void describe(AdaptiveAveragePool3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result: one number, or depth, height and width; 0: as x");
}

void describe(AdaptiveAveragePool2dOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the result; 0: as x");
}

Value adaptive_average_pool2d(Value x, const AdaptiveAveragePool2dOptions& options) {
  const Shape& shape = x.shape();
  const Pair size = options.size;
  if (shape.rank() == 4 && size.h > 0 && size.w > 0 && shape[1] > 0 && shape[2] > 0 &&
      shape[1] % size.h == 0 && shape[2] % size.w == 0) {
    return average_pool2d(x, {.kernel = {shape[1] / size.h, shape[2] / size.w}});
  }
  return x.graph().add1(ops::adaptive_average_pool2d_impl::adaptive_average_pool2d_op(),
                        ir::Attrs::of(options), {x});
}

Value adaptive_average_pool1d(Value x, const AdaptiveAveragePool1dOptions& options) {
  ops::check_sequence("adaptive_average_pool1d", x);
  return ops::as_sequence(adaptive_average_pool2d(ops::as_image(x), {.size = {1, options.size}}));
}

Value adaptive_average_pool3d(Value x, const AdaptiveAveragePool3dOptions& options) {
  ops::check_volume("adaptive_average_pool3d", x);
  const Shape volume = x.shape();
  const ops::Triple size = ops::triple("adaptive_average_pool3d", "size", options.size, 0);
  return ops::named_op("adaptive_average_pool3d", [&] {
    const Value deep = adaptive_average_pool1d(
        reshape(x, {-1, volume[1], volume[2] * volume[3] * volume[4]}), {.size = size.d});
    const int64_t depth = deep.shape()[1];
    const Value planes = adaptive_average_pool2d(
        reshape(deep, {-1, volume[2], volume[3], volume[4]}), {.size = size.plane()});
    return ops::volume_of(planes, depth);
  });
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(adaptive_average_pool2d) {
  static const FunctionDef two_sides{
      .name = "adaptive_average_pool2d",
      .doc =
          "Means over windows that divide an image of any size as evenly as they can: place i of a "
          "side of P covers the cells floor(i * H / P) to ceil((i + 1) * H / P).",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool2d(in[0], options_as<AdaptiveAveragePool2dOptions>(options))};
      },
  };
  static const FunctionDef one_side{
      .name = "adaptive_average_pool1d",
      .doc = "Means over windows that divide a sequence of any length as evenly as they can.",
      .example = "auto y = adaptive_average_pool1d(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool1d(in[0], options_as<AdaptiveAveragePool1dOptions>(options))};
      },
  };
  static const FunctionDef three_sides{
      .name = "adaptive_average_pool3d",
      .doc = "Means over windows that divide a volume of any size as evenly as they can.",
      .example = "auto y = adaptive_average_pool3d(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveAveragePool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_average_pool3d(in[0], options_as<AdaptiveAveragePool3dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&two_sides, &one_side, &three_sides};
  return defs;
}
