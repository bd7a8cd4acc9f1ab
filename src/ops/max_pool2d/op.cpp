#include <thimble/ops/max_pool2d.h>
#include <thimble/ops/reshape.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/copy.h"
#include "ops/families/pool/pool.h"
#include "ops/families/pool/pool_kernels.h"

#define THIMBLE_OP max_pool2d
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::max_pool2d_impl {
namespace {

// One byte can number the pixels of windows up to this size.
constexpr int64_t kMaxByteCells = 255;

bool has_wide_index(const Window& window) {
  return window.kernel.h * window.kernel.w > kMaxByteCells;
}

Shape pooled_shape(const ir::InferContext& c) {
  check_image(c, 0);
  const Shape& x = c.shape(0);
  const auto& attrs = c.attrs.as<MaxPool2dAttrs>();
  const Pair places = pool_places(c, pool_window(attrs), image_size(x), attrs.ceil_mode);
  return {x[0], places.h, places.w, x[3]};
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape shape = pooled_shape(c);
  const bool wide = has_wide_index(pool_window(c.attrs.as<MaxPool2dAttrs>()));
  return {moved_type(c, 0, shape), {wide ? DType::i32 : DType::u8, shape}};
}

ir::Params params(const ir::KernelContext& c) {
  const Window window = pool_window(c.attrs.as<MaxPool2dAttrs>());
  pool_dims d = pool_sizes(window, c.in(0), c.out());
  d.wide_index = has_wide_index(window) ? 1 : 0;
  return d;
}

std::vector<Value> gradient(const ir::VjpContext& c, Value index) {
  const auto& attrs = c.attrs.as<MaxPool2dAttrs>();
  return {max_pool2d_grad(c.grad(), index,
                          {.size = image_size(c.input(0).shape()),
                           .kernel = attrs.kernel,
                           .stride = attrs.stride,
                           .padding = attrs.padding,
                           .dilation = attrs.dilation,
                           .ceil_mode = attrs.ceil_mode})};
}

const OpDef& with_places_op();

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {max_pool2d(c.input(0), c.attrs.as<MaxPool2dAttrs>())};
}

const OpDef& inference_op() {
  static const OpDef def{
      .name = "max_pool2d_inference",
      .signature{
          .doc = "max_pool2d without the places of the maxima, which only the gradient reads.",
          .inputs = {{"x", "[N, H, W, C]"}},
          .outputs = {{"y", "[N, P, Q, C]"}},
          .attrs = ir::Attrs::schema_of<MaxPool2dAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {moved_type(c, 0, pooled_shape(c))};
      },
      // Recomputes the positions.
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Value x = c.input(0);
        return gradient(c, x.graph().add(with_places_op(), c.attrs, {&x, 1})[1]);
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::max_pool2d_inference_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_inference_ref>(),
          .fast = ir::kernel_fn<&max_pool2d_inference_simd>(),
          .typed = typed_kernels({}, {{DType::i8, ir::kernel_fn<&i8::max_pool2d_inference_ref>()}}),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .quantized{.build = quantized},
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) { return gradient(c, c.output(1)); }

// At inference nothing reads the positions.
std::vector<Value> specialize(const ir::RewriteContext& c, ir::Phase phase) {
  if (phase == ir::Phase::training) return {};
  return {c.graph.add1(inference_op(), c.attrs, {c.input(0)}), Value()};
}

const OpDef& max_pool2d_op() {
  static const OpDef def{
      .name = "max_pool2d",
      .signature{
          .doc = "The largest value of every window: y[n, p, q, c] = max over r, s of x[n, "
                 "p*stride + r*dilation - padding, ..., c], and its place r * kw + s in the "
                 "window, in a byte for windows of up to 255 cells.",
          .example = "auto y = max_pool2d(x, {.kernel = 2});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                      {.name = "index", .doc = "[N, P, Q, C], u8 or i32", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<MaxPool2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.specialize = specialize},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::max_pool2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_ref>(),
          .fast = ir::kernel_fn<&max_pool2d_simd>(),
          .typed = typed_kernels({}, {{DType::i8, ir::kernel_fn<&i8::max_pool2d_ref>()}}),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0, 1}};
          },
      },
      .flow{.choice = {.input = 0, .values = 0, .places = 1}},
      .quantized{.build = quantized},
  };
  return def;
}

std::vector<ir::TensorType> infer_grad(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<MaxPool2dGradAttrs>();
  check_image(c, 0);
  const Shape& dy = c.shape(0);
  const Window window = pool_window(attrs);
  c.require(pool_places(c, window, attrs.size, attrs.ceil_mode) == image_size(dy),
            "expected dy to be as large as the pooling's result");
  c.require_dtype(1, has_wide_index(window) ? DType::i32 : DType::u8);
  c.require(c.shape(1) == dy, "expected index of the shape of dy");
  return {{DType::f32, {dy[0], attrs.size.h, attrs.size.w, dy[3]}}};
}

// Bits that number the pixels of a small window, less than a byte; 0: too many pixels.
int place_bits(const Window& window) {
  const int64_t cells = window.kernel.h * window.kernel.w;
  return cells <= 2 ? 1 : cells <= 4 ? 2 : cells <= 16 ? 4 : 0;
}

const OpDef& pack_op() {
  static const OpDef def{
      .name = "max_pool2d_pack",
      .signature{
          .doc = "The places of max_pool2d in 1, 2 or 4 bits each, as many as its window needs.",
          .inputs = {{.name = "index", .doc = "[N, P, Q, C], of max_pool2d", .types = DType::u8}},
          .outputs = {{"bits", "[N, P, Q, C, 1, 2 or 4], boolean"}},
          .attrs = ir::Attrs::schema_of<MaxPool2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 4);
        const Window window = pool_window(c.attrs.as<MaxPool2dGradAttrs>());
        check_window(c, window);
        const int bits = place_bits(window);
        c.require(bits > 0, "expected a window of at most 16 cells");
        const Shape& x = c.shape(0);
        return {{DType::boolean, {x[0], x[1], x[2], x[3], bits}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return pool_pack_dims{static_cast<int>(c.in(0).elements()),
                                  static_cast<int>(c.out()[-1])};
          },
          .ref = ir::kernel_fn<&f32::max_pool2d_pack_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_pack_ref>(),
          .fast = ir::kernel_fn<&max_pool2d_pack_simd>(),
      },
      // Bits of two samples may share a byte.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

const OpDef& packed_grad_op() {
  static const OpDef def{
      .name = "max_pool2d_packed_grad",
      .is_gradient = true,
      .signature{
          .doc = "max_pool2d_grad with packed places.",
          .inputs = {{"dy", "[N, P, Q, C]"},
                     {.name = "bits",
                      .doc = "[N, P, Q, C, ...], of max_pool2d_pack",
                      .types = DType::boolean}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<MaxPool2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<MaxPool2dGradAttrs>();
        check_image(c, 0);
        const Shape& dy = c.shape(0);
        c.require(pool_places(c, pool_window(attrs), attrs.size, attrs.ceil_mode) == image_size(dy),
                  "expected dy to be as large as the pooling's result");
        c.require(c.shape(1) == Shape{dy[0], dy[1], dy[2], dy[3], place_bits(pool_window(attrs))},
                  "expected packed places of the shape of dy");
        return {{DType::f32, {dy[0], attrs.size.h, attrs.size.w, dy[3]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const Window window = pool_window(c.attrs.as<MaxPool2dGradAttrs>());
            pool_dims d = pool_sizes(window, c.out(), c.in(0));
            d.place_bits = place_bits(window);
            return d;
          },
          .workspace = max_pool2d_packed_grad_workspace,
          .ref = ir::kernel_fn<&f32::max_pool2d_packed_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_packed_grad_ref>(),
          .fast = ir::kernel_fn<&max_pool2d_packed_grad_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1}, {0}};
          },
      },
      // Bits of two samples may share a byte.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

// Positions are stored in as few bits as their window needs.
ir::MaskRule mask(const ir::Attrs& attrs) {
  if (place_bits(pool_window(attrs.as<MaxPool2dGradAttrs>())) == 0) return {};
  return {1, &pack_op(), attrs, &packed_grad_op(), attrs};
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "max_pool2d_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of max_pool2d: dx[n, h, w, c] = sum of dy[n, p, q, c] over the "
                 "windows (p, q) whose largest cell is (h, w).",
          .inputs = {{"dy", "[N, P, Q, C]"},
                     {.name = "index",
                      .doc = "[N, P, Q, C], of max_pool2d",
                      .types = {DType::u8, DType::i32}}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<MaxPool2dGradAttrs>(),
      },
      .infer = infer_grad,
      .gradient{.routing = {.grad = 0, .places = 1}},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const Window window = pool_window(c.attrs.as<MaxPool2dGradAttrs>());
            pool_dims d = pool_sizes(window, c.out(), c.in(0));
            d.wide_index = has_wide_index(window) ? 1 : 0;
            return d;
          },
          .ref = ir::kernel_fn<&f32::max_pool2d_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_grad_ref>(),
          .fast = ir::kernel_fn<&max_pool2d_grad_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1}, {0}};
          },
      },
      .memory{.mask = mask},
  };
  return def;
}

// Keeps the positions at inference, too.
const OpDef& with_places_op() {
  static const OpDef def = [] {
    OpDef copy = max_pool2d_op();
    copy.name = "max_pool2d_with_places";
    copy.signature.doc = "max_pool2d whose places are wanted for themselves.";
    copy.signature.example = "";
    copy.rewrite.specialize = nullptr;
    return copy;
  }();
  return def;
}

const OpDef& cells_op() {
  static const OpDef def{
      .name = "max_pool2d_cells",
      .signature{
          .doc = "Where in the image the places of max_pool2d are: row * W + column.",
          .inputs = {{.name = "index",
                      .doc = "[N, P, Q, C], of max_pool2d",
                      .types = {DType::u8, DType::i32}}},
          .outputs = {{"cells", "[N, P, Q, C], i32"}},
          .attrs = ir::Attrs::schema_of<MaxPool2dGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<MaxPool2dGradAttrs>();
        c.require_rank(0, 4);
        const Window window = pool_window(attrs);
        c.require(pool_places(c, window, attrs.size, attrs.ceil_mode) == image_size(c.shape(0)),
                  "expected index to be as large as the pooling's result");
        c.require_dtype(0, has_wide_index(window) ? DType::i32 : DType::u8);
        return {{DType::i32, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<MaxPool2dGradAttrs>();
            const Window window = pool_window(attrs);
            const Shape& y = c.in(0);
            pool_dims d = pool_sizes(window, {y[0], attrs.size.h, attrs.size.w, y[3]}, y);
            d.wide_index = has_wide_index(window) ? 1 : 0;
            return d;
          },
          .ref = ir::kernel_fn<&f32::max_pool2d_cells_ref>(),
          .ref64 = ir::kernel_fn<&f64::max_pool2d_cells_ref>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::max_pool2d_impl

THIMBLE_OP_FOLDER(max_pool2d) {
  static const OpDef* const defs[] = {&max_pool2d_op(),  &inference_op(), &grad_op(),
                                      &with_places_op(), &cells_op(),     &pack_op(),
                                      &packed_grad_op()};
  return defs;
}

namespace thimble {

void describe(MaxPool2dAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "size of the window");
  v.field("stride", a.stride, "places the window moves at a time; 0: its size");
  v.field("padding", a.padding, "cells around the image that are never the largest");
  v.field("dilation", a.dilation, "from one cell of the window to the next");
  v.field("ceil_mode", a.ceil_mode, "a last window that reaches beyond the padding counts, too");
}

void describe(MaxPool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the pooling's input");
  v.field("kernel", a.kernel, "of the pooling");
  v.field("stride", a.stride, "of the pooling");
  v.field("padding", a.padding, "of the pooling");
  v.field("dilation", a.dilation, "of the pooling");
  v.field("ceil_mode", a.ceil_mode, "of the pooling");
}

Value max_pool2d(Value x, const MaxPool2dAttrs& attrs) {
  return x.graph().add(ops::max_pool2d_impl::max_pool2d_op(), ir::Attrs::of(attrs), {&x, 1})[0];
}

MaxPool2dResult max_pool2d_with_indices(Value x, const MaxPool2dAttrs& attrs) {
  ir::Graph& graph = x.graph();
  const std::vector<Value> pooled =
      graph.add(ops::max_pool2d_impl::with_places_op(), ir::Attrs::of(attrs), {&x, 1});
  const MaxPool2dGradAttrs of{.size = ops::image_size(x.shape()),
                              .kernel = attrs.kernel,
                              .stride = attrs.stride,
                              .padding = attrs.padding,
                              .dilation = attrs.dilation,
                              .ceil_mode = attrs.ceil_mode};
  return {pooled[0], graph.add1(ops::max_pool2d_impl::cells_op(), ir::Attrs::of(of), {pooled[1]})};
}

Value global_max_pool2d(Value x) {
  if (x.shape().rank() != 4) {
    throw Error("global_max_pool2d", "expected images [N, H, W, C], got " + to_string(x.shape()));
  }
  const ir::LayerScope layer(x.graph(), "global_max_pool2d", "");
  const Value pooled = max_pool2d(x, {.kernel = ops::image_size(x.shape())});
  return reshape(pooled, {pooled.shape()[0], pooled.shape()[3]});
}

Value max_pool2d_grad(Value dy, Value index, const MaxPool2dGradAttrs& attrs) {
  return dy.graph().add1(ops::max_pool2d_impl::grad_op(), ir::Attrs::of(attrs), {dy, index});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(max_pool2d) {
  static const FunctionDef max_pool2d_function{
      .name = "max_pool2d",
      .doc =
          "The largest value of every window: y[n, p, q, c] = max over r, s of "
          "x[n, p*stride + r*dilation - padding, ..., c]; NaN where the window holds one.",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<MaxPool2dAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {max_pool2d(in[0], options_as<MaxPool2dAttrs>(options))};
      },
  };
  static const FunctionDef with_indices_function{
      .name = "max_pool2d_with_indices",
      .doc = "max_pool2d, and where in the image the largest values stood.",
      .example = "auto [y, index] = max_pool2d_with_indices(x, {.kernel = 2});",
      .inputs = {{.name = "x",
                  .doc = "[N, H, W, C]",
                  .batch_rank = 4,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4},
                  {.name = "index", .doc = "[N, P, Q, C], i32: row * W + column", .batch_rank = 4}},
      .options = ir::OptionSchema::of<MaxPool2dAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto pooled = max_pool2d_with_indices(in[0], options_as<MaxPool2dAttrs>(options));
        return {pooled.y, pooled.index};
      },
  };
  static const FunctionDef global_max_pool2d_function{
      .name = "global_max_pool2d",
      .doc = "The largest value of every channel of an image.",
      .example = "auto features = global_max_pool2d(images);",
      .inputs = {{.name = "x",
                  .doc = "[N, H, W, C]",
                  .batch_rank = 4,
                  .types = ir::kFloatingTypes | DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, C]", .batch_rank = 2}},
      .build = [](std::span<const Value> in, const void* /*options*/) -> std::vector<Value> {
        return {global_max_pool2d(in[0])};
      },
  };
  static const FunctionDef* const defs[] = {&max_pool2d_function, &with_indices_function,
                                            &global_max_pool2d_function};
  return defs;
}
