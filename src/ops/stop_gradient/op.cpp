#include <thimble/ops/stop_gradient.h>

#include "ir/graph.h"
#include "ops/families/move/copy.h"

#define THIMBLE_OP stop_gradient
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::stop_gradient_impl {
namespace {

const OpDef& stop_gradient_op() {
  static const OpDef def{
      .name = "stop_gradient",
      .signature{
          .doc = "x itself, through which no gradient flows.",
          .example = "auto target = stop_gradient(teacher);",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the type and shape of x"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {c.input(0)};
      },
      .gradient{
          .vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; },
          .stops_gradient = true,
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return copy_dims_of(c.outputs[0]);
          },
          .ref = ir::kernel_fn<&f32::stop_gradient_ref>(),
          .ref64 = ir::kernel_fn<&f64::stop_gradient_ref>(),
          .any_type = true,
      },
      .memory{.views = {{0, 0}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::stop_gradient_impl

THIMBLE_OP_FOLDER(stop_gradient) {
  static const OpDef* const defs[] = {&stop_gradient_op()};
  return defs;
}

namespace thimble {
Value stop_gradient(Value x) {
  return x.graph().add1(ops::stop_gradient_impl::stop_gradient_op(), {}, {x});
}
}  // namespace thimble
