#include <thimble/ops/pow.h>

#include <thimble/ops/mul.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/binary/binary.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP pow
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE(pow)
BINARY_SIMD_DECLARE_IN(pow, pow_tensor)
BINARY_SIMD_DECLARE_IN(pow, pow_tensor_slope)
BINARY_SIMD_DECLARE_IN(pow, pow_tensor_growth)

namespace thimble::ops::pow_impl {
namespace {

unary_dims constants(const ir::Attrs& attrs) {
  return {.a = static_cast<float>(attrs.as<PowAttrs>().exponent)};
}

constexpr UnaryInfo kPow{
    .name = "pow",
    .grad_name = "pow_grad",
    .doc = "A tensor to the power of a number: y = x^exponent.",
    .example = "auto y = pow(x, 3.0);",
    .reads = Reads::input,
    .kernels = UNARY_KERNELS(pow),
    .attrs = &ir::Attrs::schema_of<PowAttrs>,
    .constants = constants,
};

const OpDef& pow_tensor_slope_op() {
  static const OpDef def = binary_op({
      .name = "pow_tensor_slope",
      .signature{.doc = "The derivative of a^b by a: b * a^(b - 1), and 0 where b is 0."},
      .kernels{
          .ref = ir::kernel_fn<&f32::pow_tensor_slope_ref>(),
          .ref64 = ir::kernel_fn<&f64::pow_tensor_slope_ref>(),
          .fast = ir::kernel_fn<&pow_tensor_slope_simd>(),
      },
  });
  return def;
}

const OpDef& pow_tensor_growth_op() {
  static const OpDef def = binary_op({
      .name = "pow_tensor_growth",
      .signature{.doc = "The derivative of a^b by b: a^b * log(a), and 0 where a is 0 and b >= 0."},
      .kernels{
          .ref = ir::kernel_fn<&f32::pow_tensor_growth_ref>(),
          .ref64 = ir::kernel_fn<&f64::pow_tensor_growth_ref>(),
          .fast = ir::kernel_fn<&pow_tensor_growth_simd>(),
      },
  });
  return def;
}

std::vector<Value> pow_tensor_vjp(const ir::VjpContext& c) {
  const OpDef* const slopes[] = {&pow_tensor_slope_op(), &pow_tensor_growth_op()};
  std::vector<Value> grads(2);
  for (int i : {0, 1}) {
    if (!c.need(i)) continue;
    const Value slope = c.grad().graph().add1(*slopes[i], {}, {c.input(0), c.input(1)});
    grads[static_cast<size_t>(i)] = sum_to(c.grad() * slope, c.input(i).shape());
  }
  return grads;
}

const OpDef& pow_tensor_op() {
  static const OpDef def = binary_op({
      .name = "pow_tensor",
      .signature{
          .doc = "A tensor to the power of a tensor, element by element, broadcast as in NumPy: y "
                 "= a^b.",
          .example = "auto y = pow(a, b);",
      },
      .gradient{.vjp = pow_tensor_vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::pow_tensor_ref>(),
          .ref64 = ir::kernel_fn<&f64::pow_tensor_ref>(),
          .fast = ir::kernel_fn<&pow_tensor_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::pow_impl

THIMBLE_OP_FOLDER(pow) {
  static const OpDef* const defs[] = {&Unary<kPow>::op(), &Unary<kPow>::grad(), &pow_tensor_op(),
                                      &pow_tensor_slope_op(), &pow_tensor_growth_op()};
  return defs;
}

namespace thimble {

void describe(PowAttrs& a, ir::FieldVisitor& v) {
  v.field("exponent", a.exponent, "the same for all elements");
}

Value pow(Value x, const PowAttrs& attrs) {
  return ops::Unary<ops::pow_impl::kPow>::apply(x, ir::Attrs::of(attrs));
}

Value pow(Value x, Value exponent) {
  return x.graph().add1(ops::pow_impl::pow_tensor_op(), {}, {x, exponent});
}

}  // namespace thimble
