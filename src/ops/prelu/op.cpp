#include <thimble/ops/prelu.h>

#include "ir/function_def.h"
#include "ir/op_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/reduction/axis_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP prelu
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::prelu_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. params hold axis_dims.
int64_t prelu_workspace(const ir::Params& params, int threads);
int64_t prelu_grad_workspace(const ir::Params& params, int threads);

void prelu_simd(float* y, const float* x, const float* weight, void* workspace, const axis_dims* d,
                parallel::ThreadPool& pool);
void prelu_grad_simd(float* dx, float* dweight, const float* dy, const float* x,
                     const float* weight, void* workspace, const axis_dims* d,
                     parallel::ThreadPool& pool);

namespace {

void check(const ir::InferContext& c, int x, int weight) {
  const Shape& shape = c.shape(x);
  c.require(
      c.shape(weight) == Shape{1} || (shape.rank() >= 1 && c.shape(weight) == Shape{shape[-1]}),
      "expected a weight [1], or [C] for x [..., C]");
}

// size: channels, one slope each; one slope for all is one channel. outer: rows of them.
axis_dims dims_of(const Shape& x, const Shape& weight) {
  axis_dims d{};
  d.inner = 1;
  d.size = static_cast<int>(weight[0]);
  d.outer = d.size == 0 ? 0 : static_cast<int>(x.elements() / d.size);
  return d;
}

const OpDef& prelu_grad_op() {
  static const OpDef def{
      .name = "prelu_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of prelu: dx = dy where x > 0, else weight * dy; dweight = sum of "
                 "dy x over x <= 0.",
          .inputs = {{"dy", "[..., C]"}, {"x", "[..., C]"}, {"weight", "[C] or [1]"}},
          .outputs = {{"dx", "[..., C]"}, {"dweight", "[C] or [1]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1, 2);
        c.require(c.input(0) == c.input(1), "expected dy of the type of x");
        return {c.input(1), c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(1), c.in(2));
          },
          .workspace = prelu_grad_workspace,
          .ref = ir::kernel_fn<&f32::prelu_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::prelu_grad_ref>(),
          .fast = ir::kernel_fn<&prelu_grad_simd>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
  };
  return def;
}

const OpDef& prelu_op() {
  static const OpDef def{
      .name = "prelu",
      .signature{
          .doc = "Rectified linear unit with a trained slope: y = x where x > 0, else weight * x.",
          .example = "auto y = prelu(x);",
          .inputs = {{"x", "[..., C]"}, {"weight", "[C] or [1]"}},
          .outputs = {{"y", "[..., C]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0, 1);
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Value inputs[] = {c.grad(), c.input(0), c.input(1)};
        return c.grad().graph().add(prelu_grad_op(), {}, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.in(0), c.in(1));
          },
          .workspace = prelu_workspace,
          .ref = ir::kernel_fn<&f32::prelu_ref>(),
          .ref64 = ir::kernel_fn<&f64::prelu_ref>(),
          .fast = ir::kernel_fn<&prelu_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::prelu_impl

THIMBLE_OP_FOLDER(prelu) {
  static const OpDef* const defs[] = {&prelu_op(), &prelu_grad_op()};
  return defs;
}

namespace thimble {

void describe(PreluOptions& o, ir::OptionVisitor& v) {
  v.field("per_channel", o.per_channel, "a slope a channel instead of one for all");
  v.field("slope", o.slope, "initial value");
  v.field("name", o.name, "of the layer; empty: numbered");
}

Value prelu(Value x, Value weight) {
  return x.graph().add1(ops::prelu_impl::prelu_op(), {}, {x, weight});
}

Value prelu(Value x, const PreluOptions& options) {
  if (x.shape().rank() < 1) throw Error("prelu", "expected x [N, ..., C], got a scalar");
  const ir::LayerScope layer(x.graph(), "prelu", options.name);
  const Shape shape{options.per_channel ? x.shape()[-1] : 1};
  return prelu(x, ops::layer_parameter(layer, x, "weight", shape, init::constant(options.slope)));
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(prelu) {
  static const FunctionDef prelu_function{
      .name = "prelu",
      .doc = "A layer of rectified linear units with a trained slope below 0.",
      .inputs = {{"x", "[N, ..., C]"}},
      .outputs = {{"y", "the shape of x"}},
      .parameters = {{"weight", "[1] or [C]"}},
      .options = ir::OptionSchema::of<PreluOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {prelu(in[0], options_as<PreluOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&prelu_function};
  return defs;
}
