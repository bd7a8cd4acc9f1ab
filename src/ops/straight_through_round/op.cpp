#include <thimble/ops/straight_through_round.h>

#include "ir/graph.h"
#include "ops/families/unary/unary_dims.h"

#define THIMBLE_OP straight_through_round
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::straight_through_round_impl {
namespace {

const OpDef& straight_through_round_op() {
  static const OpDef def{
      .name = "straight_through_round",
      .signature{
          .doc = "x rounded to whole numbers, halves to even; the gradient passes as if it had not "
                 "been rounded.",
          .example = "auto q = straight_through_round(x);",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the shape of x"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> { return {c.grad()}; }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            unary_dims d{};
            d.n = static_cast<int>(c.out().elements());
            return d;
          },
          .ref = ir::kernel_fn<&f32::straight_through_round_ref>(),
          .ref64 = ir::kernel_fn<&f64::straight_through_round_ref>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::straight_through_round_impl

THIMBLE_OP_FOLDER(straight_through_round) {
  static const OpDef* const defs[] = {&straight_through_round_op()};
  return defs;
}

namespace thimble {
Value straight_through_round(Value x) {
  return x.graph().add1(ops::straight_through_round_impl::straight_through_round_op(), {}, {x});
}
}  // namespace thimble
