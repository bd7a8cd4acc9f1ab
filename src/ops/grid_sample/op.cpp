#include <thimble/ops/grid_sample.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/grid_sample/dims.h"

#define THIMBLE_OP grid_sample
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::grid_sample_impl {
namespace {

constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};

struct InputGradAttrs {
  Pair size;  // height and width of the images
  GridSampleOptions options;
};
void describe(InputGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the images");
  thimble::describe(a.options, v);
}

void fast(float* y, const float* x, const float* grid, const grid_sample_dims* d,
          parallel::ThreadPool& pool) {
  for_each_row(pool, int64_t{d->n} * d->p, int64_t{d->q} * (d->c + 16) * 4, [&](int64_t row) {
    f32::grid_sample_row(y, x, grid, static_cast<int>(row / d->p), static_cast<int>(row % d->p), d);
  });
}

// Points share pixels, so a task computes some channels of a whole image.
void fast_input_grad(float* dx, const float* dy, const float* grid, const grid_sample_dims* d,
                     parallel::ThreadPool& pool) {
  constexpr int kChannels = 16;
  const int parts = (d->c + kChannels - 1) / kChannels;
  pool.run(int64_t{d->n} * parts, [&](int64_t task) {
    const int begin = static_cast<int>(task % parts) * kChannels;
    f32::grid_sample_image_part(dx, dy, grid, static_cast<int>(task / parts), begin,
                                std::min(d->c, begin + kChannels), d);
  });
}

void fast_grid_grad(float* dgrid, const float* dy, const float* x, const float* grid,
                    const grid_sample_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, int64_t{d->n} * d->p, int64_t{d->q} * (d->c + 16) * 4, [&](int64_t row) {
    f32::grid_sample_grid_row(dgrid, dy, x, grid, static_cast<int>(row / d->p),
                              static_cast<int>(row % d->p), d);
  });
}

// Sizes of the images and of the result.
grid_sample_dims dims_of(const Shape& x, const Shape& y, const GridSampleOptions& options) {
  return {.n = static_cast<int>(x[0]),
          .h = static_cast<int>(x[1]),
          .w = static_cast<int>(x[2]),
          .c = static_cast<int>(x[3]),
          .p = static_cast<int>(y[1]),
          .q = static_cast<int>(y[2]),
          .mode = static_cast<int>(options.mode),
          .padding = static_cast<int>(options.padding),
          .align_corners = options.align_corners ? 1 : 0};
}

void check_grid(const ir::InferContext& c, int i) {
  c.require_dtype(i, DType::f32);
  c.require_rank(i, 4);
  c.require(c.shape(i)[3] == 2, "expected a grid [N, P, Q, 2]");
}

const OpDef& input_grad_op() {
  static const OpDef def{
      .name = "grid_sample_input_grad",
      .signature{
          .doc = "The gradient of grid_sample by its images.",
          .inputs = {{.name = "dy", .doc = "[N, P, Q, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2]", .batch_rank = 4}},
          .outputs = {{.name = "dx", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<InputGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        check_grid(c, 1);
        const Pair size = c.attrs.as<InputGradAttrs>().size;
        return {{DType::f32, {c.shape(0)[0], size.h, size.w, c.shape(0)[3]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.out(), c.in(0), c.attrs.as<InputGradAttrs>().options);
          },
          .ref = ir::kernel_fn<&f32::grid_sample_input_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::grid_sample_input_grad_ref>(),
          .fast = ir::kernel_fn<&fast_input_grad>(),
      },
  };
  return def;
}

const OpDef& grid_grad_op() {
  static const OpDef def{
      .name = "grid_sample_grid_grad",
      .signature{
          .doc = "The gradient of grid_sample by its grid.",
          .inputs = {{.name = "dy", .doc = "[N, P, Q, C]", .batch_rank = 4},
                     {.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2]", .batch_rank = 4}},
          .outputs = {{.name = "dgrid", .doc = "[N, P, Q, 2]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<GridSampleOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        check_image(c, 1);
        check_grid(c, 2);
        return {c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(1), c.in(0), c.attrs.as<GridSampleOptions>());
          },
          .ref = ir::kernel_fn<&f32::grid_sample_grid_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::grid_sample_grid_grad_ref>(),
          .fast = ir::kernel_fn<&fast_grid_grad>(),
      },
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& options = c.attrs.as<GridSampleOptions>();
  ir::Graph& graph = c.grad().graph();
  std::vector<Value> grads(2);
  if (c.need(0)) {
    const Shape& x = c.input(0).shape();
    grads[0] = graph.add1(input_grad_op(), ir::Attrs::of(InputGradAttrs{{x[1], x[2]}, options}),
                          {c.grad(), c.input(1)});
  }
  if (c.need(1) && options.mode != GridMode::nearest) {
    grads[1] = graph.add1(grid_grad_op(), c.attrs, {c.grad(), c.input(0), c.input(1)});
  }
  return grads;
}

const OpDef& grid_sample_op() {
  static const OpDef def{
      .name = "grid_sample",
      .signature{
          .doc = "Images at the points of a grid, whose coordinates (across, down) are -1 to 1 "
                 "within the image.",
          .example = "auto turned = grid_sample(images, grid, {.padding = GridPadding::border});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<GridSampleOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_image(c, 0);
        check_grid(c, 1);
        const Shape& x = c.shape(0);
        const Shape& grid = c.shape(1);
        c.require(x[0] == grid[0], "expected a grid for each image");
        c.require(x[1] >= 1 && x[2] >= 1, "expected images of at least 1 by 1");
        return {{DType::f32, {x[0], grid[1], grid[2], x[3]}}};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(0), c.out(), c.attrs.as<GridSampleOptions>());
          },
          .ref = ir::kernel_fn<&f32::grid_sample_ref>(),
          .ref64 = ir::kernel_fn<&f64::grid_sample_ref>(),
          .fast = ir::kernel_fn<&fast>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::grid_sample_impl

THIMBLE_OP_FOLDER(grid_sample) {
  static const OpDef* const defs[] = {&grid_sample_op(), &input_grad_op(), &grid_grad_op()};
  return defs;
}

namespace thimble {

void describe(GridSampleOptions& options, ir::FieldVisitor& visitor) {
  visitor.enumeration("mode", options.mode, ops::grid_sample_impl::kModes,
                      "how a point is found from the pixels around it");
  visitor.enumeration("padding", options.padding, ops::grid_sample_impl::kPaddings,
                      "what lies outside of an image");
  visitor.field("align_corners", options.align_corners,
                "-1 and 1 are the middles of the outermost pixels, not their edges");
}

Value grid_sample(Value x, Value grid, const GridSampleOptions& options) {
  return x.graph().add1(ops::grid_sample_impl::grid_sample_op(), ir::Attrs::of(options), {x, grid});
}

}  // namespace thimble
