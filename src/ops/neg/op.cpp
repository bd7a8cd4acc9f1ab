#include <thimble/ops/neg.h>

#include "ops/common/unary.h"

#define THIMBLE_REF "ops/neg/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

const OpDef& neg_op() {
  static const OpDef def{
      .name = "neg",
      .doc = "The negative: y = -x.",
      .example = "auto y = -x;",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "the shape of x"}},
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_dtype(0, DType::f32);
        return {c.input(0)};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> { return {-c.grad()}; },
      .params = [](const ir::KernelContext& c) -> ir::Params {
        return unary_dims{.n = static_cast<int>(c.out().elements())};
      },
      .ref = ir::kernel_fn<&f32::neg_ref>(),
      .ref64 = ir::kernel_fn<&f64::neg_ref>(),
      .elementwise = true,
      .in_place = {{0, 0}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(neg) {
  static const OpDef* const defs[] = {&neg_op()};
  return defs;
}

namespace thimble {

Value neg(Value x) { return x.graph().add1(ops::neg_op(), {}, {x}); }

}  // namespace thimble
