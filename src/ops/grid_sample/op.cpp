#include <thimble/ops/grid_sample.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/grid_sample/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP grid_sample
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::grid_sample_impl {

// The fast kernels, in simd.cpp; shapes, layout and aliasing as in ref.h.
void grid_sample_simd(float* y, const float* x, const float* grid, const grid_sample_dims* d,
                      parallel::ThreadPool& pool);

// Points share pixels, so a task computes some channels of a whole image.
void grid_sample_input_grad_simd(float* dx, const float* dy, const float* grid,
                                 const grid_sample_dims* d, parallel::ThreadPool& pool);

void grid_sample_grid_grad_simd(float* dgrid, const float* dy, const float* x, const float* grid,
                                const grid_sample_dims* d, parallel::ThreadPool& pool);

namespace {

constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};

struct InputGradAttrs {
  Pair size;          // height and width of the images
  int64_t depth = 0;  // of volumes; 0: images
  GridSampleOptions options;
};
void describe(InputGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the images");
  v.field("depth", a.depth, "depth of the volumes; 0: images");
  thimble::describe(a.options, v);
}

// Sizes of the images and of the result.
grid_sample_dims dims_of(const Shape& x, const Shape& y, const GridSampleOptions& options) {
  const bool volumes = x.rank() == 5;
  const int row = volumes ? 2 : 1;  // the axis of the rows
  return {.axes = volumes ? 3 : 2,
          .n = static_cast<int>(x[0]),
          .depth = volumes ? static_cast<int>(x[1]) : 1,
          .h = static_cast<int>(x[row]),
          .w = static_cast<int>(x[row + 1]),
          .c = static_cast<int>(x[row + 2]),
          .o = volumes ? static_cast<int>(y[1]) : 1,
          .p = static_cast<int>(y[row]),
          .q = static_cast<int>(y[row + 1]),
          .mode = static_cast<int>(options.mode),
          .padding = static_cast<int>(options.padding),
          .align_corners = options.align_corners ? 1 : 0};
}

// Images or volumes.
void check_pixels(const ir::InferContext& c, int i) {
  if (c.shape(i).rank() != 5) check_image(c, i);
}

// A grid for the pixels of input x, of the size of dy where that is given (else -1).
void check_grid(const ir::InferContext& c, int grid, int x, int dy, GridMode mode) {
  const Shape& points = c.shape(grid);
  const bool volumes = c.shape(x).rank() == 5;
  c.require(points.rank() == c.shape(x).rank() && points[points.rank() - 1] == (volumes ? 3 : 2),
            volumes ? "expected a grid [N, O, P, Q, 3] for volumes"
                    : "expected a grid [N, P, Q, 2] for images");
  c.require(c.shape(x)[0] == points[0], "expected a grid for each image");
  c.require(!volumes || mode != GridMode::bicubic,
            "expected mode bilinear or nearest for volumes [N, D, H, W, C]");
  if (dy < 0) return;
  const Shape& result = c.shape(dy);
  bool same = result.rank() == points.rank();
  for (int axis = 0; same && axis < points.rank() - 1; ++axis) same = result[axis] == points[axis];
  c.require(same, "expected a grid of as many points as dy");
}

const OpDef& input_grad_op() {
  static const OpDef def{
      .name = "grid_sample_input_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of grid_sample by its images.",
          .inputs = {{.name = "dy", .doc = "[N, P, Q, C] or [N, O, P, Q, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2] or [N, O, P, Q, 3]", .batch_rank = 4}},
          .outputs = {{.name = "dx", .doc = "[N, H, W, C] or [N, D, H, W, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<InputGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_pixels(c, 0);
        const auto& attrs = c.attrs.as<InputGradAttrs>();
        check_grid(c, 1, 0, 0, attrs.options.mode);
        const Shape& dy = c.shape(0);
        const Pair size = attrs.size;
        const bool volumes = dy.rank() == 5;
        c.require(size.h >= 1 && size.w >= 1 && (volumes ? attrs.depth >= 1 : attrs.depth == 0),
                  "expected the sizes of images, and of volumes their depth");
        if (!volumes) return {{DType::f32, {dy[0], size.h, size.w, dy[3]}}};
        return {{DType::f32, {dy[0], attrs.depth, size.h, size.w, dy[4]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.out(), c.in(0), c.attrs.as<InputGradAttrs>().options);
          },
          .ref = ir::kernel_fn<&f32::grid_sample_input_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::grid_sample_input_grad_ref>(),
          .fast = ir::kernel_fn<&grid_sample_input_grad_simd>(),
      },
  };
  return def;
}

const OpDef& grid_grad_op() {
  static const OpDef def{
      .name = "grid_sample_grid_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of grid_sample by its grid.",
          .inputs = {{.name = "dy", .doc = "[N, P, Q, C] or [N, O, P, Q, C]", .batch_rank = 4},
                     {.name = "x", .doc = "[N, H, W, C] or [N, D, H, W, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2] or [N, O, P, Q, 3]", .batch_rank = 4}},
          .outputs = {{.name = "dgrid", .doc = "[N, P, Q, 2] or [N, O, P, Q, 3]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<GridSampleOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_pixels(c, 0);
        check_pixels(c, 1);
        check_grid(c, 2, 1, 0, c.attrs.as<GridSampleOptions>().mode);
        const int channels = c.shape(0).rank() - 1;
        c.require(c.shape(0)[channels] == c.shape(1)[channels], "expected dy of the channels of x");
        return {c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(1), c.in(0), c.attrs.as<GridSampleOptions>());
          },
          .ref = ir::kernel_fn<&f32::grid_sample_grid_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::grid_sample_grid_grad_ref>(),
          .fast = ir::kernel_fn<&grid_sample_grid_grad_simd>(),
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
    const InputGradAttrs attrs = x.rank() == 5 ? InputGradAttrs{{x[2], x[3]}, x[1], options}
                                               : InputGradAttrs{{x[1], x[2]}, 0, options};
    grads[0] = graph.add1(input_grad_op(), ir::Attrs::of(attrs), {c.grad(), c.input(1)});
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
                 "within the image; or volumes, whose points have a third coordinate (deep).",
          .example = "auto turned = grid_sample(images, grid, {.padding = GridPadding::border});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C] or [N, D, H, W, C]", .batch_rank = 4},
                     {.name = "grid", .doc = "[N, P, Q, 2] or [N, O, P, Q, 3]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C] or [N, O, P, Q, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<GridSampleOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_pixels(c, 0);
        check_grid(c, 1, 0, -1, c.attrs.as<GridSampleOptions>().mode);
        const Shape& x = c.shape(0);
        const Shape& grid = c.shape(1);
        if (x.rank() == 5) {
          c.require(x[1] >= 1 && x[2] >= 1 && x[3] >= 1,
                    "expected volumes of at least 1 by 1 by 1");
          return {{DType::f32, {x[0], grid[1], grid[2], grid[3], x[4]}}};
        }
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
          .fast = ir::kernel_fn<&grid_sample_simd>(),
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
