#include <thimble/ops/by_phase.h>

#include "ir/graph.h"
#include "ops/families/move/copy.h"

#define THIMBLE_OP by_phase
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::by_phase_impl {
namespace {

const OpDef& by_phase_op() {
  static const OpDef def{
      .name = "by_phase",
      .signature{
          .doc = "Stands for its first input in training and for its second at inference; the "
                 "program of either phase holds that input alone.",
          .example = "auto z = by_phase(mean + noise, mean);",
          .inputs = {{"training", "any shape"},
                     {.name = "inference", .doc = "the same", .type_of = 0}},
          .outputs = {{"y", "the same"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0) == c.input(1), "expected two tensors of one type");
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad(), Value()};
      }},
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            return {c.input(phase == ir::Phase::training ? 0 : 1)};
          }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return copy_dims_of(c.outputs[0]);
          },
          .ref = ir::kernel_fn<&f32::by_phase_ref>(),
          .ref64 = ir::kernel_fn<&f64::by_phase_ref>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::by_phase_impl

THIMBLE_OP_FOLDER(by_phase) {
  static const OpDef* const defs[] = {&by_phase_op()};
  return defs;
}

namespace thimble {
Value by_phase(Value training, Value inference) {
  return training.graph().add1(ops::by_phase_impl::by_phase_op(), {}, {training, inference});
}
}  // namespace thimble
