#include <thimble/ops/by_phase.h>
#include <thimble/ops/random_normal.h>
#include <thimble/ops/reparametrize.h>

#include "ir/graph.h"
#include "ops/families/loss/loss.h"
#include "ops/families/move/copy.h"

#define THIMBLE_OP reparametrize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::reparametrize_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  for (int i = 0; i < 3; ++i) {
    c.require(c.shape(i) == c.shape(0), "expected tensors of one shape");
  }
  return {c.input(0)};
}

ir::Params params(const ir::KernelContext& c) { return copy_dims_of(c.outputs[0]); }

const OpDef& reparametrize_grad_op() {
  static const OpDef def{
      .name = "reparametrize_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of reparametrize by logvar: dz (z - mean) / 2.",
          .inputs = {{"dz", "any shape"}, {"z", "the shape of dz"}, {"mean", "the shape of dz"}},
          .outputs = {{"dlogvar", "the shape of dz"}},
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::reparametrize_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::reparametrize_grad_ref>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}, {0, 2}}},
      .flow{.elementwise = true},
  };
  return def;
}

const OpDef& reparametrize_op() {
  static const OpDef def{
      .name = "reparametrize",
      .signature{
          .doc = "A draw from normal distributions that gradients flow through: z = mean + "
                 "exp(logvar / 2) noise. The builder draws the noise; at inference z is the mean.",
          .example = "auto z = reparametrize(mean, logvar);",
          .inputs = {{"mean", "any shape"},
                     {"logvar", "the shape of mean: logarithms of the variances"},
                     {"noise", "the shape of mean: standard normal numbers"}},
          .outputs = {{"z", "the shape of mean"}},
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        refuse_gradient(c, 2, reparametrize_op());
        const Value dz = c.grad();
        return {dz, dz.graph().add1(reparametrize_grad_op(), {}, {dz, c.output(), c.input(0)})};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::reparametrize_ref>(),
          .ref64 = ir::kernel_fn<&f64::reparametrize_ref>(),
      },
      .memory{.in_place = {{0, 2}, {0, 1}, {0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::reparametrize_impl

THIMBLE_OP_FOLDER(reparametrize) {
  static const OpDef* const defs[] = {&reparametrize_op(), &reparametrize_grad_op()};
  return defs;
}

namespace thimble {
Value reparametrize(Value mean, Value logvar, const ReparametrizeOptions& options) {
  ir::Graph& graph = mean.graph();
  const ir::LayerScope layer(graph, "reparametrize", options.name);
  const Value noise = random_normal(mean);
  return by_phase(
      graph.add1(ops::reparametrize_impl::reparametrize_op(), {}, {mean, logvar, noise}), mean);
}
}  // namespace thimble
