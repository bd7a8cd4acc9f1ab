#include <thimble/ops/reshape.h>
#include <thimble/ops/upsample2d.h>

#include <cmath>

#include "ir/function_def.h"
#include "ir/op_def.h"
#include "ops/families/builder/named_op.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/sequence.h"
#include "ops/families/conv/volume.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/copy.h"
#include "ops/upsample2d/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP upsample2d
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::upsample2d_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. params hold upsample2d_dims.
int64_t upsample2d_workspace(const ir::Params& params, int threads);
int64_t upsample2d_grad_workspace(const ir::Params& params, int threads);

void upsample2d_simd(float* y, const float* x, void* workspace, const upsample2d_dims* d,
                     parallel::ThreadPool& pool);
void upsample2d_grad_simd(float* dx, const float* dy, void* workspace, const upsample2d_dims* d,
                          parallel::ThreadPool& pool);

namespace {

constexpr const char* kUpsamplings[] = {"nearest", "nearest_exact", "bilinear", "bicubic"};

struct Upsample2dGradAttrs {
  Pair input;  // height and width of upsample2d's input
  Upsample2dOptions options;
};

void describe(Upsample2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "height and width of upsample2d's input");
  describe(a.options, v);
}

constexpr double kLargest = 1 << 24;  // most pixels along a side

bool is_between(const Upsample2dOptions& o) {
  return o.mode == Upsampling::bilinear || o.mode == Upsampling::bicubic;
}

double scale_of_width(const Upsample2dOptions& o) { return o.scale_w > 0.0 ? o.scale_w : o.scale; }

int64_t cells(int64_t given, double scale, int64_t input) {
  return given > 0 ? given : static_cast<int64_t>(std::floor(static_cast<double>(input) * scale));
}

Pair result_size(const ir::InferContext& c, const Upsample2dOptions& o, Pair input) {
  c.require(o.size.h >= 0 && o.size.w >= 0 && o.scale >= 0.0 && o.scale_w >= 0.0,
            "expected a size or scale that is not negative");
  const double scale_w = scale_of_width(o);
  c.require((o.size.h > 0 || o.scale > 0.0) && (o.size.w > 0 || scale_w > 0.0),
            "expected a size or a scale");
  c.require(input.h >= 1 && input.w >= 1, "expected images of at least 1 by 1");
  c.require(static_cast<double>(input.h) * o.scale <= kLargest &&
                static_cast<double>(input.w) * scale_w <= kLargest &&
                static_cast<double>(std::max(o.size.h, o.size.w)) <= kLargest,
            "expected a result of at most 2^24 cells a side");
  const Pair size{cells(o.size.h, o.scale, input.h), cells(o.size.w, scale_w, input.w)};
  c.require(size.h >= 1 && size.w >= 1, "the scale leaves nothing of the image");
  return size;
}

// Of integers, those with a scale can lie between others, at places that follow from the sizes.
void check_integers(const ir::InferContext& c, const Upsample2dOptions& o, Pair from, Pair to) {
  if (!is_between(o)) return;
  c.require(o.mode == Upsampling::bilinear && c.input(0).quantization != nullptr,
            "integers are resized by nearest or nearest_exact, int8 with a scale by bilinear, too; "
            "cast or dequantize them first");
  const auto fits = [](double scale, int64_t in, int64_t out) {
    return scale == 0.0 || static_cast<double>(in) * scale == static_cast<double>(out);
  };
  c.require(
      o.align_corners || (fits(o.scale, from.h, to.h) && fits(scale_of_width(o), from.w, to.w)),
      "int8 images are resized between pixels by their sizes: give a size without a scale, "
      "or a scale that gives whole numbers");
}

upsample_axis axis(int64_t from, int64_t to, double scale, const Upsample2dOptions& o) {
  upsample_axis a{};
  a.from = static_cast<int>(from);
  a.to = static_cast<int>(to);
  if (is_between(o) && o.align_corners) {
    a.scale = to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0;
    return a;
  }
  a.scale = scale > 0.0 ? 1.0 / scale : static_cast<double>(from) / static_cast<double>(to);
  a.shift = o.mode == Upsampling::nearest ? 0.0 : 0.5;
  return a;
}

upsample2d_dims dims_of(const Shape& x, const Shape& y, const Upsample2dOptions& o) {
  upsample2d_dims d{};
  d.n = static_cast<int>(x[0]);
  d.c = static_cast<int>(x[3]);
  d.linear = o.mode == Upsampling::bilinear ? 1 : 0;
  d.cubic = o.mode == Upsampling::bicubic ? 1 : 0;
  d.h = axis(x[1], y[1], o.scale, o);
  d.w = axis(x[2], y[2], scale_of_width(o), o);
  return d;
}

// Bicubic: each image is a task; calls image(its offset in x, its offset in y, the sizes of one
// image).
template <class Image>
void for_each_image(const upsample2d_dims& d, parallel::ThreadPool& pool, const Image& image) {
  upsample2d_dims one = d;
  one.n = 1;
  const int64_t from = int64_t{d.h.from} * d.w.from * d.c;
  const int64_t to = int64_t{d.h.to} * d.w.to * d.c;
  pool.run(d.n, [&](int64_t n) { image(n * from, n * to, &one); });
}

void fast(float* y, const float* x, void* workspace, const upsample2d_dims* d,
          parallel::ThreadPool& pool) {
  if (d->cubic == 0) {
    upsample2d_simd(y, x, workspace, d, pool);
    return;
  }
  for_each_image(*d, pool, [&](int64_t in, int64_t out, const upsample2d_dims* one) {
    f32::upsample2d_cubic(y + out, x + in, one);
  });
}

void grad_fast(float* dx, const float* dy, void* workspace, const upsample2d_dims* d,
               parallel::ThreadPool& pool) {
  if (d->cubic == 0) {
    upsample2d_grad_simd(dx, dy, workspace, d, pool);
    return;
  }
  for_each_image(*d, pool, [&](int64_t in, int64_t out, const upsample2d_dims* one) {
    f32::upsample2d_cubic_grad(dx + in, dy + out, one);
  });
}

const OpDef& upsample2d_grad_op() {
  static const OpDef def{
      .name = "upsample2d_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of upsample2d: dx = the sum of dy over the pixels of y that a pixel "
                 "of x is part of, by its weight in each.",
          .inputs = {{"dy", "[N, P, Q, C]"}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<Upsample2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<Upsample2dGradAttrs>();
        check_image(c, 0);
        c.require(image_size(c.shape(0)) == result_size(c, attrs.options, attrs.input),
                  "expected dy to be as large as upsample2d's result");
        return {{DType::f32, {c.shape(0)[0], attrs.input.h, attrs.input.w, c.shape(0)[3]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.out(), c.in(0), c.attrs.as<Upsample2dGradAttrs>().options);
          },
          .workspace = upsample2d_grad_workspace,
          .ref = ir::kernel_fn<&f32::upsample2d_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::upsample2d_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
  };
  return def;
}

const OpDef& upsample2d_op() {
  static const OpDef def{
      .name = "upsample2d",
      .signature{
          .doc =
              "Images of another size: every pixel is the nearest of the image, or lies between "
              "the four around its place (bilinear), or on a curve through sixteen (bicubic). "
              "Equal to torch.nn.functional.interpolate. Bilinear images of int8 with a scale have "
              "the bits of TensorFlow Lite's reference kernel.",
          .example = "auto y = upsample2d(x, {.scale = 2, .mode = Upsampling::bilinear});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<Upsample2dOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        const Shape& x = c.shape(0);
        const auto& options = c.attrs.as<Upsample2dOptions>();
        const Pair size = result_size(c, options, image_size(x));
        if (!is_floating(c.input(0).dtype)) check_integers(c, options, image_size(x), size);
        return {moved_type(c, 0, {x[0], size.h, size.w, x[3]})};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Upsample2dGradAttrs attrs{image_size(c.input(0).shape()),
                                        c.attrs.as<Upsample2dOptions>()};
        return {c.grad().graph().add1(upsample2d_grad_op(), ir::Attrs::of(attrs), {c.grad()})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(0), c.out(), c.attrs.as<Upsample2dOptions>());
          },
          .workspace = upsample2d_workspace,
          .ref = ir::kernel_fn<&f32::upsample2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::upsample2d_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = typed_kernels({}, {{DType::i8, ir::kernel_fn<&i8::upsample2d_ref>()}}),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .quantized{.build = ir::same_op_on_int8},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::upsample2d_impl

THIMBLE_OP_FOLDER(upsample2d) {
  static const OpDef* const defs[] = {&upsample2d_op(), &upsample2d_grad_op()};
  return defs;
}

namespace thimble {

void describe(Upsample1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result; 0: found from scale");
  v.field("scale", o.scale, "0: result / input");
  v.enumeration("mode", o.mode, ops::upsample2d_impl::kUpsamplings,
                "how steps are found; bilinear: linear");
  v.field("align_corners", o.align_corners, "of bilinear: the ends' middles stay in place");
}

void describe(Upsample3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size,
          "of the result: one number, or depth, height and width; none: from scale");
  v.field("scale", o.scale, "0: result / input");
  v.enumeration("mode", o.mode, ops::upsample2d_impl::kUpsamplings,
                "how cells are found; bilinear: trilinear");
  v.field("align_corners", o.align_corners, "of bilinear: the corners' middles stay in place");
}

void describe(Upsample2dOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the result; 0: found from scale");
  v.field("scale", a.scale, "of height and width; 0: result / input");
  v.field("scale_w", a.scale_w, "of the width, where it differs");
  v.enumeration("mode", a.mode, ops::upsample2d_impl::kUpsamplings, "how pixels are found");
  v.field("align_corners", a.align_corners,
          "of bilinear and bicubic: the corners' middles stay in place");
}

Value upsample2d(Value x, const Upsample2dOptions& options) {
  return x.graph().add1(ops::upsample2d_impl::upsample2d_op(), ir::Attrs::of(options), {x});
}

Value upsample1d(Value x, const Upsample1dOptions& options) {
  ops::check_sequence("upsample1d", x);
  return ops::as_sequence(upsample2d(ops::as_image(x), {.size = {1, options.size},
                                                        .scale_w = options.scale,
                                                        .mode = options.mode,
                                                        .align_corners = options.align_corners}));
}

Value upsample3d(Value x, const Upsample3dOptions& options) {
  ops::check_volume("upsample3d", x);
  const Shape volume = x.shape();
  if (options.mode == Upsampling::bicubic) {
    throw Error("upsample3d", "volumes are resized by nearest, nearest_exact or bilinear");
  }
  const ops::Triple size = options.size.empty()
                               ? ops::Triple{0, 0, 0}
                               : ops::triple("upsample3d", "size", options.size, 1);
  return ops::named_op("upsample3d", [&] {
    const Value deep = upsample1d(reshape(x, {-1, volume[1], volume[2] * volume[3] * volume[4]}),
                                  {.size = size.d,
                                   .scale = options.scale,
                                   .mode = options.mode,
                                   .align_corners = options.align_corners});
    const int64_t depth = deep.shape()[1];
    const Value planes = upsample2d(reshape(deep, {-1, volume[2], volume[3], volume[4]}),
                                    {.size = size.plane(),
                                     .scale = options.scale,
                                     .mode = options.mode,
                                     .align_corners = options.align_corners});
    return ops::volume_of(planes, depth);
  });
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(upsample2d) {
  static const FunctionDef upsample1d_function{
      .name = "upsample1d",
      .doc = "Sequences of another length: every step is the nearest, or lies between two.",
      .example = "auto y = upsample1d(x, {.scale = 2});",
      .inputs = {{.name = "x",
                  .doc = "[N, L, C]",
                  .batch_rank = 3,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<Upsample1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {upsample1d(in[0], options_as<Upsample1dOptions>(options))};
      },
  };
  static const FunctionDef upsample3d_function{
      .name = "upsample3d",
      .doc =
          "Volumes of another size: every cell is the nearest, or lies between the eight around "
          "its place (bilinear). Equal to torch.nn.functional.interpolate.",
      .example = "auto y = upsample3d(x, {.scale = 2, .mode = Upsampling::bilinear});",
      .inputs = {{.name = "x",
                  .doc = "[N, D, H, W, C]",
                  .batch_rank = 5,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<Upsample3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {upsample3d(in[0], options_as<Upsample3dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&upsample1d_function, &upsample3d_function};
  return defs;
}
