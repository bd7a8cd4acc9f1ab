#include <thimble/ops/quantized_add.h>

#include "ir/graph.h"
#include "ops/families/quantized/sum.h"
#include "ops/families/quantized/sum_fast.h"

#define THIMBLE_OP quantized_add
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_add_impl {
namespace {

void fast(int8_t* y, const int8_t* a, const int8_t* b, const quantized_sum_dims* d,
          parallel::ThreadPool& pool) {
  if (!quantized_sum_is_plain(*d)) return f32::quantized_add_ref(y, a, b, d);
  quantized_sum_fast(y, a, b, 1, *d, pool);
}

struct QuantizedAdd : QuantizedSum<QuantizedAddAttrs, 1> {
  static constexpr const char* name = "quantized_add";
  static constexpr const char* doc =
      "The sum of int8 numbers of different scales: y = clamp(round(((a - its zero point) * its "
      "scale + (b - its zero point) * its scale) / scale) + zero_point).";
  static constexpr const char* example = "auto y = quantized_add(a, b, {.scale = 0.1});";
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::quantized_add_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::quantized_add_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&quantized_add_impl::fast>();
  static constexpr const char* inside_name = "quantized_add_inside";
  static constexpr ir::KernelFn inside_ref = ir::kernel_fn<&f32::quantized_add_inside_ref>();
  static constexpr ir::KernelFn inside_ref64 = ir::kernel_fn<&f64::quantized_add_inside_ref>();
};

}  // namespace
}  // namespace thimble::ops::quantized_add_impl

THIMBLE_OP_FOLDER(quantized_add) {
  static const OpDef* const defs[] = {&quantized_pair_op<QuantizedAdd>(),
                                      &quantized_pair_inside_op<QuantizedAdd>()};
  return defs;
}

namespace thimble {

void describe(QuantizedAddAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_add(Value a, Value b, const QuantizedAddAttrs& attrs) {
  using ops::quantized_add_impl::QuantizedAdd;
  return a.graph().add1(ops::quantized_pair_op<QuantizedAdd>(), ir::Attrs::of(attrs), {a, b});
}

}  // namespace thimble
