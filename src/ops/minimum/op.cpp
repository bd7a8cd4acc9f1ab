#include <thimble/ops/minimum.h>
#include <thimble/ops/sum_to.h>

#include "ir/graph.h"
#include "ops/common/nary.h"
#include "ops/minimum/simd.h"

#define THIMBLE_REF "ops/minimum/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

const OpDef& minimum_grad_op() {
  static const OpDef def{
      .name = "minimum_grad",
      .doc =
          "The gradient of minimum by its first input: dy where it is the smaller, dy / 2 where "
          "both "
          "are equal, else 0.",
      .inputs = {{"dy", "the shape of the result"},
                 {"a", "the input whose gradient is taken"},
                 {"b", "the other one"}},
      .outputs = {{"dx", "the shape of dy"}},
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        for (int i = 0; i < 3; ++i) c.require_dtype(i, DType::f32);
        c.require(broadcast_shape(c, 1, 2) == c.shape(0), "expected dy of the broadcast shape");
        return {c.input(0)};
      },
      .params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); },
      .ref = ir::kernel_fn<&f32::minimum_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::minimum_grad_ref>(),
      .fast = ir::kernel_fn<&minimum_grad_simd>(),
      .elementwise = true,
      .in_place = {{0, 0}, {0, 1}, {0, 2}},
  };
  return def;
}

// The gradient by input i.
Value grad_by(const ir::VjpContext& c, int i) {
  if (!c.need(i)) return {};
  const Value x = c.input(i);
  return sum_to(c.grad().graph().add1(minimum_grad_op(), {}, {c.grad(), x, c.input(1 - i)}),
                x.shape());
}

const OpDef& minimum_op() {
  static const OpDef def{
      .name = "minimum",
      .doc = "The smaller of a and b, element by element with broadcasting; NaN where one is NaN.",
      .example = "auto y = minimum(a, b);",
      .inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts with that of a"}},
      .outputs = {{"y", "the broadcast shape"}},
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        for (int i = 0; i < 2; ++i) c.require_dtype(i, DType::f32);
        return {{DType::f32, broadcast_shape(c, 0, 1)}};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {grad_by(c, 0), grad_by(c, 1)};
      },
      .params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); },
      .ref = ir::kernel_fn<&f32::minimum_ref>(),
      .ref64 = ir::kernel_fn<&f64::minimum_ref>(),
      .fast = ir::kernel_fn<&minimum_simd>(),
      .elementwise = true,
      .in_place = {{0, 0}, {0, 1}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(minimum) {
  static const OpDef* const defs[] = {&minimum_op(), &minimum_grad_op()};
  return defs;
}

namespace thimble {
Value minimum(Value a, Value b) { return a.graph().add1(ops::minimum_op(), {}, {a, b}); }
}  // namespace thimble
