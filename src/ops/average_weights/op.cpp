#include <thimble/ops/average_weights.h>

#include "ir/graph.h"
#include "ops/average_weights/dims.h"
#include "ops/families/kernel/ref.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP average_weights
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::average_weights_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void average_weights_simd(float* average_out, const float* average, const float* param,
                          const int32_t* step, const average_weights_dims* d,
                          parallel::ThreadPool& pool);

namespace {

const OpDef& average_weights_op() {
  static const OpDef def{
      .name = "average_weights",
      .signature{
          .doc = "A running average of a parameter, in place: average = decay * average + (1 - "
                 "decay) * param; the first step copies param, and step 0 changes nothing.",
          .inputs = {{"average", "any shape: a state"},
                     {"param", "the shape of average"},
                     {.name = "step",
                      .doc = "this update's number, from 1, or 0",
                      .types = DType::i32}},
          .outputs = {{"average", "the same memory, updated"}},
          .attrs = ir::Attrs::schema_of<AverageWeightsOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.shape(0) == c.shape(1), "expected an average of the parameter's shape");
        c.require(c.shape(2).rank() == 0, "expected one number as the step");
        const double decay = c.attrs.as<AverageWeightsOptions>().decay;
        c.require(decay >= 0.0 && decay < 1.0, "decay must be at least 0 and below 1");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            average_weights_dims d{};
            d.n = static_cast<int>(c.out().elements());
            d.decay = c.attrs.as<AverageWeightsOptions>().decay;
            return d;
          },
          .ref = ir::kernel_fn<&f32::average_weights_ref>(),
          .ref64 = ir::kernel_fn<&f64::average_weights_ref>(),
          .fast = ir::kernel_fn<&average_weights_simd>(),
      },
      .memory{.updates = {{0, 0}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::average_weights_impl

THIMBLE_OP_FOLDER(average_weights) {
  static const OpDef* const defs[] = {&average_weights_op()};
  return defs;
}

namespace thimble {

void describe(AverageWeightsOptions& a, ir::FieldVisitor& v) {
  v.field("decay", a.decay, "share of the average that is kept");
}

Value average_weights(Value average, Value param, Value step,
                      const AverageWeightsOptions& options) {
  return average.graph().add1(ops::average_weights_impl::average_weights_op(),
                              ir::Attrs::of(options), {average, param, step});
}

}  // namespace thimble
