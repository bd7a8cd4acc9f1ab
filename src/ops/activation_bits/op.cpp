#include <thimble/ops/activation_bits.h>

#include "ir/graph.h"
#include "ops/activation_bits/dims.h"
#include "ops/families/unary/activation_mask.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP activation_bits
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::activation_bits_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void activation_bits_simd(uint8_t* bits, const float* x, const bits_dims* d,
                          parallel::ThreadPool& pool);
void grad_by_bits_simd(float* dx, const float* dy, const uint8_t* bits, const grad_by_bits_dims* d,
                       parallel::ThreadPool& pool);

namespace {

const OpDef& bits_op() {
  static const OpDef def{
      .name = "activation_bits",
      .signature{
          .doc = "One bit an element: whether it passes the test. Takes the place of an activation "
                 "that is kept for a gradient which asks no more.",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"bits", "the shape of x, boolean"}},
          .attrs = ir::Attrs::schema_of<ActivationBitsAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {{DType::boolean, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& a = c.attrs.as<ActivationBitsAttrs>();
            return bits_dims{.n = static_cast<int>(c.out().elements()),
                             .test = static_cast<int>(a.test),
                             .low = static_cast<float>(a.low),
                             .high = static_cast<float>(a.high)};
          },
          .ref = ir::kernel_fn<&f32::activation_bits_ref>(),
          .ref64 = ir::kernel_fn<&f64::activation_bits_ref>(),
          .fast = ir::kernel_fn<&activation_bits_simd>(),
      },
      // Bits of two samples may share a byte.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "grad_by_bits",
      .signature{
          .doc = "dx = dy where the bit is set, else slope * dy, or 0 where the slope is 0.",
          .inputs = {{"dy", "any shape"},
                     {.name = "bits", .doc = "the shape of dy", .types = DType::boolean}},
          .outputs = {{"dx", "the shape of dy"}},
          .attrs = ir::Attrs::schema_of<GradByBitsAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.shape(1) == c.shape(0), "expected a bit for every element");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return grad_by_bits_dims{
                .n = static_cast<int>(c.out().elements()),
                .slope = static_cast<float>(c.attrs.as<GradByBitsAttrs>().slope)};
          },
          .ref = ir::kernel_fn<&f32::grad_by_bits_ref>(),
          .ref64 = ir::kernel_fn<&f64::grad_by_bits_ref>(),
          .fast = ir::kernel_fn<&grad_by_bits_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
      // Bits of two samples may share a byte.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::activation_bits_impl

namespace thimble::ops {

ir::MaskRule activation_mask(const ActivationBitsAttrs& test, double slope) {
  return {1, &activation_bits_impl::bits_op(), ir::Attrs::of(test),
          &activation_bits_impl::grad_op(), ir::Attrs::of(GradByBitsAttrs{slope})};
}

const OpDef& masking_op() { return activation_bits_impl::grad_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(activation_bits) {
  static const OpDef* const defs[] = {&bits_op(), &grad_op()};
  return defs;
}

namespace thimble {

void describe(ActivationBitsAttrs& a, ir::FieldVisitor& v) {
  static constexpr const char* kTests[] = {"above", "above_or_nan", "inside", "within", "outside"};
  v.enumeration("test", a.test, kTests, "what a bit says");
  v.field("low", a.low, "the lower bound");
  v.field("high", a.high, "the upper bound, where the test has one");
}

void describe(GradByBitsAttrs& a, ir::FieldVisitor& v) {
  v.field("slope", a.slope, "factor where the bit is not set; 0: the gradient is 0");
}

Value activation_bits(Value x, const ActivationBitsAttrs& attrs) {
  return x.graph().add1(ops::activation_bits_impl::bits_op(), ir::Attrs::of(attrs), {x});
}

Value grad_by_bits(Value dy, Value bits, const GradByBitsAttrs& attrs) {
  return dy.graph().add1(ops::activation_bits_impl::grad_op(), ir::Attrs::of(attrs), {dy, bits});
}

}  // namespace thimble
