#include "ir/graph.h"
#include "ops/families/quantized/sum_grad.h"
#include "ops/quantized_sum_grad/dims.h"

#define THIMBLE_OP quantized_sum_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_sum_grad_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& dy = c.shape(0);
  c.require(dy.rank() >= 1, "expected dy [N, ..., channels]");
  c.require(c.shape(1) == Shape{dy[-1]}, "expected a factor for every channel of dy");
  c.require(!c.has(2) || c.shape(2) == dy, "expected a bit for every element of dy");
  return {c.input(0), {DType::f32, c.shape(1)}};
}

ir::Params params(const ir::KernelContext& c) {
  const int64_t channels = c.in(1)[0];
  const int64_t rows = channels > 0 ? c.in(0).elements() / channels : 0;
  return quantized_sum_grad_dims{static_cast<int>(rows), static_cast<int>(channels)};
}

const OpDef& sum_grad_op() {
  static const OpDef def{
      .name = "quantized_sum_grad",
      .signature{
          .doc = "The gradients of the sums of a quantized layer and of its bias, from that of its "
                 "result: dsum = dy * factor of the channel, or 0 where the bit is not set, and "
                 "dbias = dsum summed over all but the last axis. It has the bits of grad_by_bits, "
                 "mul and sum_to.",
          .inputs = {{.name = "dy", .doc = "[N, ..., channels], f32", .types = DType::f32},
                     {.name = "factors", .doc = "[channels], f32", .types = DType::f32},
                     {.name = "bits",
                      .doc = "the shape of dy, boolean",
                      .optional = true,
                      .types = DType::boolean}},
          .outputs = {{"dsum", "the shape of dy"}, {"dbias", "[channels]"}},
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::quantized_sum_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_sum_grad_ref>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_sum_grad_impl

namespace thimble::ops {

const OpDef& quantized_sum_grad() { return quantized_sum_grad_impl::sum_grad_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(quantized_sum_grad) {
  static const OpDef* const defs[] = {&sum_grad_op()};
  return defs;
}
