#include <thimble/ops/adaptive_max_pool2d.h>
#include <thimble/ops/max_pool2d.h>

#include "ir/function_def.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/sequence.h"
#include "ops/families/conv/volume.h"
#include "ops/families/update/adaptive.h"

#define THIMBLE_OP adaptive_max_pool2d
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::adaptive_max_pool2d_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void adaptive_max_pool2d_simd(float* y, int32_t* index, const float* x, const adaptive_dims* d,
                              parallel::ThreadPool& pool);

namespace {

struct AdaptiveMaxPool2dGradAttrs {
  Pair input;  // height and width of the pooling's input
};

void describe(AdaptiveMaxPool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "height and width of the pooling's input");
}

// Each image is a task.
void grad_fast(float* dx, const float* dy, const int32_t* index, const adaptive_dims* d,
               parallel::ThreadPool& pool) {
  adaptive_dims one = *d;
  one.n = 1;
  pool.run(d->n, [&](int64_t n) {
    const int64_t from = n * adaptive_result(*d);
    f32::adaptive_max_pool2d_grad_ref(dx + n * adaptive_image(*d), dy + from, index + from, &one);
  });
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "adaptive_max_pool2d_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of adaptive_max_pool2d: dx = the sum of dy over the windows whose "
                 "largest value stood there.",
          .inputs = {{"dy", "[N, P, Q, C]"},
                     {.name = "index", .doc = "[N, P, Q, C]", .types = DType::i32}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<AdaptiveMaxPool2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        c.require(c.shape(1) == c.shape(0), "expected an index of the shape of dy");
        const Pair input = c.attrs.as<AdaptiveMaxPool2dGradAttrs>().input;
        c.require(input.h >= 1 && input.w >= 1, "expected images of at least 1 by 1");
        return {{DType::f32, {c.shape(0)[0], input.h, input.w, c.shape(0)[3]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return adaptive_dims_of(c.out(), c.in(0));
          },
          .ref = ir::kernel_fn<&f32::adaptive_max_pool2d_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::adaptive_max_pool2d_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
  };
  return def;
}

const OpDef& adaptive_max_pool2d_op() {
  static const OpDef def{
      .name = "adaptive_max_pool2d",
      .signature{
          .doc = "The largest value of windows that divide an image of any size as evenly as they "
                 "can: place i of a side of P covers the cells floor(i * H / P) to ceil((i + 1) * "
                 "H / P).",
          .example = "auto y = adaptive_max_pool2d(x, {.size = 7});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                      {.name = "index",
                       .doc = "[N, P, Q, C], i32: row * W + column",
                       .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<AdaptiveMaxPool2dOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        const Shape& x = c.shape(0);
        const Pair size =
            adaptive_size(c, c.attrs.as<AdaptiveMaxPool2dOptions>().size, image_size(x));
        const Shape y{x[0], size.h, size.w, x[3]};
        return {{DType::f32, y}, {DType::i32, y}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const AdaptiveMaxPool2dGradAttrs attrs{image_size(c.input(0).shape())};
        return {c.grad().graph().add1(grad_op(), ir::Attrs::of(attrs), {c.grad(), c.output(1)})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return adaptive_dims_of(c.in(0), c.out());
          },
          .ref = ir::kernel_fn<&f32::adaptive_max_pool2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::adaptive_max_pool2d_ref>(),
          .fast = ir::kernel_fn<&adaptive_max_pool2d_simd>(),
      },
  };
  return def;
}

constexpr const char* kVolumes = "adaptive_max_pool3d";

// adaptive_max_pool2d of every plane, then along the depth.
struct Poolings {
  AdaptiveMaxPool2dOptions plane;
  int64_t depth = 1;
  // Of these pooled planes as columns.
  [[nodiscard]] AdaptiveMaxPool2dOptions columns(const Shape& planes) const {
    return {.size = {depth, planes[1] * planes[2]}};
  }
};

Poolings poolings_of(Value x, const AdaptiveMaxPool3dOptions& options) {
  check_volume(kVolumes, x);
  const Shape& volume = x.shape();
  if (volume[1] < 1 || volume[2] < 1 || volume[3] < 1) {
    throw Error(kVolumes,
                fmt::format("expected volumes of at least 1 by 1 by 1, got {}", to_string(volume)));
  }
  const Triple size = triple(kVolumes, "size", options.size, 0);
  return {.plane = {.size = size.plane()}, .depth = size.d == 0 ? volume[1] : size.d};
}

}  // namespace
}  // namespace thimble::ops::adaptive_max_pool2d_impl

THIMBLE_OP_FOLDER(adaptive_max_pool2d) {
  static const OpDef* const defs[] = {&adaptive_max_pool2d_op(), &grad_op()};
  return defs;
}

namespace thimble {

void describe(AdaptiveMaxPool1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "length of the result; 0: as x");
}

void describe(AdaptiveMaxPool3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result: one number, or depth, height and width; 0: as x");
}

void describe(AdaptiveMaxPool2dOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the result; 0: as x");
}

Value adaptive_max_pool2d(Value x, const AdaptiveMaxPool2dOptions& options) {
  const Shape& shape = x.shape();
  const Pair size = options.size;
  if (shape.rank() == 4 && size.h > 0 && size.w > 0 && shape[1] > 0 && shape[2] > 0 &&
      shape[1] % size.h == 0 && shape[2] % size.w == 0) {
    return max_pool2d(x, {.kernel = {shape[1] / size.h, shape[2] / size.w}});
  }
  const Value inputs[] = {x};
  return x.graph().add(ops::adaptive_max_pool2d_impl::adaptive_max_pool2d_op(),
                       ir::Attrs::of(options), inputs)[0];
}

AdaptiveMaxPoolResult adaptive_max_pool2d_with_indices(Value x,
                                                       const AdaptiveMaxPool2dOptions& options) {
  const Value inputs[] = {x};
  const auto pooled = x.graph().add(ops::adaptive_max_pool2d_impl::adaptive_max_pool2d_op(),
                                    ir::Attrs::of(options), inputs);
  return {pooled[0], pooled[1]};
}

AdaptiveMaxPoolResult adaptive_max_pool1d_with_indices(Value x,
                                                       const AdaptiveMaxPool1dOptions& options) {
  ops::check_sequence("adaptive_max_pool1d_with_indices", x);
  const auto pooled =
      adaptive_max_pool2d_with_indices(ops::as_image(x), {.size = {1, options.size}});
  return {ops::as_sequence(pooled.y), ops::as_sequence(pooled.index)};
}

Value adaptive_max_pool1d(Value x, const AdaptiveMaxPool1dOptions& options) {
  ops::check_sequence("adaptive_max_pool1d", x);
  return ops::as_sequence(adaptive_max_pool2d(ops::as_image(x), {.size = {1, options.size}}));
}

Value adaptive_max_pool3d(Value x, const AdaptiveMaxPool3dOptions& options) {
  const auto poolings = ops::adaptive_max_pool2d_impl::poolings_of(x, options);
  const int64_t depth = x.shape()[1];
  return ops::named_op(ops::adaptive_max_pool2d_impl::kVolumes, [&] {
    const Value planes = adaptive_max_pool2d(ops::planes_of(x), poolings.plane);
    const Value pooled =
        adaptive_max_pool2d(ops::lines_of(planes, depth), {.size = {poolings.depth, 1}});
    return ops::volume_of_columns(pooled, planes.shape());
  });
}

AdaptiveMaxPoolResult adaptive_max_pool3d_with_indices(Value x,
                                                       const AdaptiveMaxPool3dOptions& options) {
  const auto poolings = ops::adaptive_max_pool2d_impl::poolings_of(x, options);
  const Shape volume = x.shape();
  return ops::named_op(ops::adaptive_max_pool2d_impl::kVolumes, [&]() -> AdaptiveMaxPoolResult {
    const auto planes = adaptive_max_pool2d_with_indices(ops::planes_of(x), poolings.plane);
    const auto columns = adaptive_max_pool2d_with_indices(ops::columns_of(planes.y, volume[1]),
                                                          poolings.columns(planes.y.shape()));
    return {ops::volume_of_columns(columns.y, planes.y.shape()),
            ops::volume_index(planes.index, columns.index, volume)};
  });
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(adaptive_max_pool2d) {
  static const FunctionDef two_sides{
      .name = "adaptive_max_pool2d",
      .doc =
          "The largest value of windows that divide an image of any size as evenly as they can: "
          "place i of a side of P covers the cells floor(i * H / P) to ceil((i + 1) * H / P).",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool2d(in[0], options_as<AdaptiveMaxPool2dOptions>(options))};
      },
  };
  static const FunctionDef one_side{
      .name = "adaptive_max_pool1d",
      .doc =
          "The largest value of windows that divide a sequence of any length as evenly as they "
          "can.",
      .example = "auto y = adaptive_max_pool1d(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool1d(in[0], options_as<AdaptiveMaxPool1dOptions>(options))};
      },
  };
  static const FunctionDef two_sides_indices{
      .name = "adaptive_max_pool2d_with_indices",
      .doc =
          "adaptive_max_pool2d, and where in the image the largest values stood: row * W + column.",
      .example = "auto [y, index] = adaptive_max_pool2d_with_indices(x, {.size = 7});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                  {.name = "index", .doc = "[N, P, Q, C], i32", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool2d_with_indices(in[0], options_as<AdaptiveMaxPool2dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef one_side_indices{
      .name = "adaptive_max_pool1d_with_indices",
      .doc = "adaptive_max_pool1d, and where in the sequence the largest values stood.",
      .example = "auto [y, index] = adaptive_max_pool1d_with_indices(x, {.size = 4});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3},
                  {.name = "index", .doc = "[N, Q, C], i32", .batch_rank = 3}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool1d_with_indices(in[0], options_as<AdaptiveMaxPool1dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef three_sides{
      .name = "adaptive_max_pool3d",
      .doc = "The largest value of windows that divide a volume of any size as evenly as they can.",
      .example = "auto y = adaptive_max_pool3d(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {adaptive_max_pool3d(in[0], options_as<AdaptiveMaxPool3dOptions>(options))};
      },
  };
  static const FunctionDef three_sides_indices{
      .name = "adaptive_max_pool3d_with_indices",
      .doc = "adaptive_max_pool3d, and where in the volume the largest values stood.",
      .example = "auto [y, index] = adaptive_max_pool3d_with_indices(x, {.size = {2, 4, 4}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5},
                  {.name = "index",
                   .doc = "[N, O, P, Q, C], i32: (depth * H + row) * W + column",
                   .batch_rank = 5}},
      .options = ir::OptionSchema::of<AdaptiveMaxPool3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled =
            adaptive_max_pool3d_with_indices(in[0], options_as<AdaptiveMaxPool3dOptions>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef* const defs[] = {&two_sides,        &one_side,    &two_sides_indices,
                                            &one_side_indices, &three_sides, &three_sides_indices};
  return defs;
}
