#include <thimble/ops/cast.h>
#include <thimble/ops/sum_to.h>
#include <thimble/ops/where.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"
#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP where
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::where_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void where_simd(float* y, const uint8_t* condition, const float* a, const float* b,
                const nary_dims* d, parallel::ThreadPool& pool);
void where_grad_simd(float* dx, const uint8_t* condition, const float* dy, const nary_dims* d,
                     parallel::ThreadPool& pool);

namespace {

struct WhereGradAttrs {
  bool holds = true;  // whether dy passes where the condition holds, or where it does not
};

void describe(WhereGradAttrs& a, ir::FieldVisitor& v) {
  v.field("holds", a.holds, "dy where the condition holds, else where it does not");
}

const OpDef& where_grad_op() {
  static const OpDef def{
      .name = "where_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of where by a: dy where the condition holds, else 0; or by b: the "
                 "rest.",
          .inputs = {{.name = "condition",
                      .doc = "broadcasts to the shape of dy",
                      .types = DType::u8},
                     {"dy", "any shape"}},
          .outputs = {{"dx", "the shape of dy"}},
          .attrs = ir::Attrs::schema_of<WhereGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(broadcast_shape(c, 0, 1) == c.shape(1), "expected dy of the broadcast shape");
        return {c.input(1)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return nary_dims_of(c, c.attrs.as<WhereGradAttrs>().holds ? 1 : 0);
          },
          .ref = ir::kernel_fn<&f32::where_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::where_grad_ref>(),
          .fast = ir::kernel_fn<&where_grad_simd>(),
      },
      .memory{.in_place = {{0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

Value grad_by(const ir::VjpContext& c, int i) {
  if (!c.need(i)) return {};
  const Value dx = c.grad().graph().add1(where_grad_op(), ir::Attrs::of(WhereGradAttrs{i == 1}),
                                         {c.input(0), c.grad()});
  return sum_to(dx, c.input(i).shape());
}

const OpDef& where_op() {
  static const OpDef def{
      .name = "where",
      .signature{
          .doc = "a where the condition is not 0, else b, element by element with broadcasting.",
          .example = "auto y = where(lt(x, zero), a, b);",
          .inputs = {{.name = "condition", .doc = "any shape", .types = DType::u8},
                     {"a", "a shape that broadcasts with the others"},
                     {"b", "a shape that broadcasts with the others"}},
          .outputs = {{"y", "the broadcast shape"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_same_quantization(c, 1, 2);
        return {moved_type(c, 1, broadcast_shape(c, 0, 2))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {Value(), grad_by(c, 1), grad_by(c, 2)};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); },
          .ref = ir::kernel_fn<&f32::where_ref>(),
          .ref64 = ir::kernel_fn<&f64::where_ref>(),
          .fast = ir::kernel_fn<&where_simd>(),
          .typed = INTEGER_KERNELS_AFTER({DType::u8}, where),
      },
      .memory{.in_place = {{0, 1}, {0, 2}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::where_impl

THIMBLE_OP_FOLDER(where) {
  static const OpDef* const defs[] = {&where_op(), &where_grad_op()};
  return defs;
}

namespace thimble {

Value where(Value condition, Value a, Value b) {
  if (condition.dtype() == DType::boolean) condition = cast(condition, DType::u8);
  return condition.graph().add1(ops::where_impl::where_op(), {}, {condition, a, b});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(where) {
  static const FunctionDef where_function{
      .name = "where",
      .doc = "a where the condition is not 0, else b, element by element with broadcasting.",
      .example = "auto y = where(lt(x, zero), a, b);",
      .inputs = {{.name = "condition", .doc = "any shape", .types = {DType::u8, DType::boolean}},
                 {"a", "a shape that broadcasts with the others"},
                 {"b", "a shape that broadcasts with the others"}},
      .outputs = {{"y", "the broadcast shape"}},
      .build = [](std::span<const Value> in, const void*) -> std::vector<Value> {
        return {where(in[0], in[1], in[2])};
      },
  };
  static const FunctionDef* const defs[] = {&where_function};
  return defs;
}
