#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sum.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/scales.h"
#include "ops/families/reduction/axes.h"
#include "ops/families/reduction/sum.h"

#define THIMBLE_OP sum
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::sum_impl {
namespace {

// Integers of less than 32 bits as i32, and u32 as i64, which hold their sums. Those with scales
// stay as they are.
Value with_room_for_sums(Value x) {
  if (is_floating(x.dtype()) || x.quantization() != nullptr) return x;
  if (x.dtype() == DType::u32) return cast(x, DType::i64);
  return bits(x.dtype()) < 32 ? cast(x, DType::i32) : x;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  require_plain_numbers(c);
  const auto& options = c.attrs.as<ReduceOptions>();
  return {{c.input(0).dtype,
           reduced_shape(c.shape(0), checked_axes(c, options.axes), options.keepdims)}};
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const Shape& x = c.input(0).shape();
  const auto chosen = chosen_axes(x.rank(), c.attrs.as<ReduceOptions>().axes);
  return {broadcast_to(reshape(c.grad(), reduced_shape(x, chosen, true)), x)};
}

const OpDef& sum_op() {
  static const OpDef def{
      .name = "sum",
      .signature{
          .doc = "The sum over axes (all where none is named): y = sum of x over these axes.",
          .example = "auto y = sum(x, {.axes = {1, 2}});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
          .attrs = ir::Attrs::schema_of<ReduceOptions>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const Shape& x = c.in(0);
            return reduce_dims_of(x, chosen_axes(x.rank(), c.attrs.as<ReduceOptions>().axes), 1);
          },
          .workspace = sum_workspace,
          .ref = ir::kernel_fn<&f32::sum_ref>(),
          .ref64 = ir::kernel_fn<&f64::sum_ref>(),
          .fast = ir::kernel_fn<&sum_simd>(),
          .typed = SUM_KERNELS(sum),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::sum_impl

THIMBLE_OP_FOLDER(sum) {
  static const OpDef* const defs[] = {&sum_op()};
  return defs;
}

namespace thimble {

void describe(ReduceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "the axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
}
Value sum(Value x, const ReduceOptions& options) {
  x = ops::sum_impl::with_room_for_sums(x);
  return x.graph().add1(ops::sum_impl::sum_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(sum) {
  static const FunctionDef sum_function{
      .name = "sum",
      .doc =
          "The sum over axes (all where none is named): y = sum of x over these axes. Booleans "
          "are counted; sums of integers of less than 32 bits are i32, those of u32 i64.",
      .example = "auto y = sum(x, {.axes = {1, 2}});",
      .inputs = {{.name = "x",
                  .doc = "any shape",
                  .types = ir::kNumberTypes | ir::TypeSet{DType::i4, DType::boolean}}},
      .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
      .options = ir::OptionSchema::of<ReduceOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {sum(in[0], options_as<ReduceOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&sum_function};
  return defs;
}
