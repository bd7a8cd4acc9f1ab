#include <thimble/ops/cast.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/quantized_mean.h>
#include <thimble/ops/sum.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ir/sizes.h"
#include "ops/families/binary/broadcast.h"
#include "ops/families/reduction/axes.h"
#include "ops/families/reduction/sum.h"

#define THIMBLE_OP mean
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::mean_impl {
namespace {

struct MeanGradAttrs {
  Shape shape;                // shape of mean's input
  std::vector<int64_t> axes;  // axes of mean
};

void describe(MeanGradAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of mean's input");
  v.field("axes", a.axes, "the axes averaged over; none: all");
}

std::vector<char> chosen_of(const Shape& x, const ir::Attrs& attrs) {
  return chosen_axes(x.rank(), attrs.as<ReduceOptions>().axes);
}

ir::Params mean_params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  reduce_dims d = reduce_dims_of(x, chosen_of(x, c.attrs), 1);
  d.divisor = d.reduced;
  return d;
}

const OpDef& mean_grad_op() {
  static const OpDef def{
      .name = "mean_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of mean: dy / (number of averaged elements), repeated to x's shape.",
          .inputs = {{"dy", "the shape of mean's result"}},
          .outputs = {{"dx", "the shape in the attributes"}},
          .attrs = ir::Attrs::schema_of<MeanGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& attrs = c.attrs.as<MeanGradAttrs>();
        const int rank = attrs.shape.rank();
        c.require(rank <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
        for (const int64_t axis : attrs.axes) static_cast<void>(checked_axis(c, axis, rank));
        for (const int64_t dim : attrs.shape.dims())
          c.require(dim >= 0, "expected no size below 0");
        const Shape mean = reduced_shape(attrs.shape, chosen_axes(rank, attrs.axes), true);
        c.require(ir::bounded_elements(mean) == c.shape(0).elements(),
                  "expected dy of the shape of mean's result");
        return {{DType::f32, attrs.shape}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<MeanGradAttrs>();
            const auto chosen = chosen_axes(attrs.shape.rank(), attrs.axes);
            const Shape kept = reduced_shape(attrs.shape, chosen, true);
            const int64_t count =
                kept.elements() == 0 ? 1 : attrs.shape.elements() / kept.elements();
            return broadcast_dims_of(kept, attrs.shape, static_cast<int>(count));
          },
          .ref = ir::kernel_fn<&f32::mean_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::mean_grad_ref>(),
          .fast = ir::kernel_fn<&broadcast_simd>(),
      },
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& options = c.attrs.as<ReduceOptions>();
  const MeanGradAttrs attrs{c.input(0).shape(), options.axes};
  return {c.grad().graph().add1(mean_grad_op(), ir::Attrs::of(attrs), {c.grad()})};
}

const OpDef& mean_op() {
  static const OpDef def{
      .name = "mean",
      .signature{
          .doc = "The mean over axes (all where none is named).",
          .example = "auto y = mean(x, {.axes = {1, 2}});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
          .attrs = ir::Attrs::schema_of<ReduceOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& options = c.attrs.as<ReduceOptions>();
        const auto chosen = checked_axes(c, options.axes);
        return {{DType::f32, reduced_shape(c.shape(0), chosen, options.keepdims)}};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = mean_params,
          .workspace = sum_workspace,
          .ref = ir::kernel_fn<&f32::mean_ref>(),
          .ref64 = ir::kernel_fn<&f64::mean_ref>(),
          .fast = ir::kernel_fn<&sum_simd>(),
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return chosen_of(c.in(0), c.attrs)[0] != 0 ? ir::Samples::mean
                                                             : ir::Samples::independent;
                }},
      .quantized{
          .build = [](const ir::QuantizeContext& c) -> std::vector<Value> {
            const auto& options = c.attrs.as<ReduceOptions>();
            return {quantized_mean(c.input(0), {.axes = options.axes,
                                                .keepdims = options.keepdims,
                                                .scale = c.scale,
                                                .zero_point = c.zero_point,
                                                .requantization = c.requantization})};
          },
          .rescales = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::mean_impl

THIMBLE_OP_FOLDER(mean) {
  static const OpDef* const defs[] = {&mean_op(), &mean_grad_op()};
  return defs;
}

namespace thimble {
Value mean(Value x, const ReduceOptions& options) {
  const bool is_plain = !is_floating(x.dtype()) && x.quantization() == nullptr;
  if (is_plain && bits(x.dtype()) <= 16) x = cast(x, DType::f32);  // exactly
  return x.graph().add1(ops::mean_impl::mean_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(mean) {
  static const FunctionDef mean_function{
      .name = "mean",
      .doc =
          "The mean over axes (all where none is named). The mean of booleans is the share of "
          "those that are true.",
      .example = "auto y = mean(x, {.axes = {1, 2}});",
      .inputs = {{.name = "x",
                  .doc = "any shape",
                  .types = ir::kFloatingTypes | ir::TypeSet{DType::i16, DType::i8, DType::i4,
                                                            DType::u8, DType::boolean}}},
      .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
      .options = ir::OptionSchema::of<ReduceOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {mean(in[0], options_as<ReduceOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&mean_function};
  return defs;
}
