#include <fmt/format.h>
#include <thimble/ops/unfold.h>

#include <cstdint>
#include <limits>

#include "ir/graph.h"
#include "ir/sizes.h"
#include "ops/families/pool/pool.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP unfold
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::unfold_impl {

// The fast kernels, in simd.cpp; shapes, layout and aliasing as in ref.h.
void unfold_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool);
void fold_simd(float* y, const float* x, const pool_dims* d, parallel::ThreadPool& pool);

namespace {

template <class T>
Window window_of(const T& o) {
  return {o.kernel, o.stride, o.dilation, o.padding};
}

FoldOptions reverse_of(const UnfoldOptions& o, Pair size) {
  return {.size = size,
          .kernel = o.kernel,
          .stride = o.stride,
          .padding = o.padding,
          .dilation = o.dilation};
}

const OpDef& unfold_op() {
  static const OpDef def{
      .name = "unfold",
      .signature{
          .doc = "The windows of images, one a row, as torch.nn.functional.unfold with channels "
                 "last.",
          .example = "auto patches = unfold(images, {.kernel = 8, .stride = 8});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y",
                       .doc = "[N, P * Q, kh * kw * C], the window's cells row by row",
                       .batch_rank = 3}},
          .attrs = ir::Attrs::schema_of<UnfoldOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        const auto& o = c.attrs.as<UnfoldOptions>();
        const Window window = window_of(o);
        check_window(c, window);
        const Pair places = window_places(c, window, image_size(c.shape(0)));
        const Shape& x = c.shape(0);
        return {{DType::f32,
                 {x[0], ir::bounded_product(places.h, places.w),
                  ir::bounded_product(o.kernel.h * o.kernel.w, x[3])}}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Pair size = image_size(c.input(0).shape());
        return {fold(c.grad(), reverse_of(c.attrs.as<UnfoldOptions>(), size))};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const Window window = window_of(c.attrs.as<UnfoldOptions>());
            const Shape& x = c.in(0);
            const Padding padding = settled_padding(window, image_size(x));
            const Pair extent = window_extent(window);
            const int64_t p =
                (x[1] + padding.top + padding.bottom - extent.h) / window.stride.h + 1;
            const int64_t q = p == 0 ? 0 : c.out()[1] / p;
            return pool_sizes(window, x, {x[0], p, q, x[3]});
          },
          .ref = ir::kernel_fn<&f32::unfold_ref>(),
          .ref64 = ir::kernel_fn<&f64::unfold_ref>(),
          .fast = ir::kernel_fn<&unfold_simd>(),
      },
  };
  return def;
}

const OpDef& fold_op() {
  static const OpDef def{
      .name = "fold",
      .signature{
          .doc = "The sums of windows laid over each other, as torch.nn.functional.fold with "
                 "channels last.",
          .example = "auto images = fold(patches, {.size = 32, .kernel = 8, .stride = 8});",
          .inputs = {{.name = "x", .doc = "[N, P * Q, kh * kw * C]", .batch_rank = 3}},
          .outputs = {{.name = "y", .doc = "[N, H, W, C], H and W those of size", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<FoldOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 3);
        const auto& o = c.attrs.as<FoldOptions>();
        const Window window = window_of(o);
        check_window(c, window);
        constexpr int64_t kMostPixels = std::numeric_limits<int32_t>::max();
        c.require(o.size.h >= 1 && o.size.w >= 1, "expected a size of at least 1 by 1");
        c.require(o.size.h <= kMostPixels / o.size.w,
                  fmt::format("expected a size of at most {} pixels", kMostPixels));
        const Pair places = window_places(c, window, o.size);
        const Shape& x = c.shape(0);
        const int64_t cells = o.kernel.h * o.kernel.w;
        c.require(x[1] == ir::bounded_product(places.h, places.w) && x[2] % cells == 0,
                  fmt::format("expected x [N, {}, a multiple of {}] for this size and window",
                              places.h * places.w, cells));
        return {{DType::f32, {x[0], o.size.h, o.size.w, x[2] / cells}}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const auto& o = c.attrs.as<FoldOptions>();
        return {unfold(c.grad(), {.kernel = o.kernel,
                                  .stride = o.stride,
                                  .padding = o.padding,
                                  .dilation = o.dilation})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const Window window = window_of(c.attrs.as<FoldOptions>());
            const Shape& y = c.out();
            const Padding padding = settled_padding(window, image_size(y));
            const Pair extent = window_extent(window);
            const int64_t p =
                (y[1] + padding.top + padding.bottom - extent.h) / window.stride.h + 1;
            const int64_t q = p == 0 ? 0 : c.in(0)[1] / p;
            return pool_sizes(window, y, {y[0], p, q, y[3]});
          },
          .ref = ir::kernel_fn<&f32::fold_ref>(),
          .ref64 = ir::kernel_fn<&f64::fold_ref>(),
          .fast = ir::kernel_fn<&fold_simd>(),
      },
  };
  return def;
}

template <class T>
void describe_window(T& o, ir::FieldVisitor& visitor) {
  visitor.field("kernel", o.kernel, "height and width of the window");
  visitor.field("stride", o.stride, "cells from one window to the next");
  visitor.field("padding", o.padding, "zeros around the image");
  visitor.field("dilation", o.dilation, "from one cell of the window to the next");
}

}  // namespace
}  // namespace thimble::ops::unfold_impl

THIMBLE_OP_FOLDER(unfold) {
  static const OpDef* const defs[] = {&unfold_op(), &fold_op()};
  return defs;
}

namespace thimble {

void describe(UnfoldOptions& options, ir::FieldVisitor& visitor) {
  ops::unfold_impl::describe_window(options, visitor);
}
void describe(FoldOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("size", options.size, "height and width of the images");
  ops::unfold_impl::describe_window(options, visitor);
}

Value unfold(Value x, const UnfoldOptions& options) {
  return x.graph().add1(ops::unfold_impl::unfold_op(), ir::Attrs::of(options), {x});
}
Value fold(Value x, const FoldOptions& options) {
  return x.graph().add1(ops::unfold_impl::fold_op(), ir::Attrs::of(options), {x});
}

}  // namespace thimble
