#include <thimble/ops/bitwise.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/bitwise/dims.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"

#define THIMBLE_OP bitwise
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::bitwise_impl {
namespace {

using Part = void (*)(unsigned char*, const void*, const void*, const bitwise_dims*, int, int);

// Divides the runs of the innermost axis among threads.
template <Part part>
void fast(unsigned char* y, const void* a, const void* b, const bitwise_dims* d,
          parallel::ThreadPool& pool) {
  constexpr int64_t kTaskElements = 16384;
  const int64_t inner = d->walk.size[0];
  const int64_t runs = d->walk.n / inner;
  const int64_t each = std::max<int64_t>(1, kTaskElements / inner);
  pool.run((runs + each - 1) / each, [&](int64_t task) {
    const int64_t end = std::min(runs, (task + 1) * each);
    part(y, a, b, d, static_cast<int>(task * each * inner), static_cast<int>(end * inner));
  });
}

template <Part part>
void fast_of_one(unsigned char* y, const void* a, const bitwise_dims* d,
                 parallel::ThreadPool& pool) {
  fast<part>(y, a, nullptr, d, pool);
}

// Completes the definition; the caller sets name, doc, example and kernels.
OpDef bits(OpDef def, bool two) {
  def.signature.inputs = {{.name = "a", .doc = "any shape", .types = ir::kIntegerTypes}};
  if (two)
    def.signature.inputs.push_back(
        {.name = "b", .doc = "a shape that broadcasts", .types = ir::kIntegerTypes, .type_of = 0});
  def.signature.outputs = {{"y", "the broadcast shape; the type of a"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    const DType dtype = c.input(0).dtype;
    const int last = static_cast<int>(c.inputs.size()) - 1;
    require_plain_numbers(c);
    return {{dtype, broadcast_shape(c, 0, last)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return bitwise_dims{nary_dims_of(c), static_cast<int>(c.inputs[0]->dtype)};
  };
  def.kernels.any_type = true;
  def.flow.elementwise = true;
  return def;
}

#define BITS(op, two, run, text)                                \
  const OpDef& op##_op() {                                      \
    static const OpDef def = bits(                              \
        {                                                       \
            .name = #op,                                        \
            .signature{                                         \
                .doc = text,                                    \
                .example = "auto y = " #op "(a" two ");",       \
            },                                                  \
            .kernels{                                           \
                .ref = ir::kernel_fn<&f32::op##_ref>(),         \
                .ref64 = ir::kernel_fn<&f64::op##_ref>(),       \
                .fast = ir::kernel_fn<&run<&f32::op##_part>>(), \
            },                                                  \
        },                                                      \
        sizeof(two) > 1);                                       \
    return def;                                                 \
  }

BITS(bitwise_and, ", b", fast, "The bits that both of two whole numbers have.")
BITS(bitwise_or, ", b", fast, "The bits that one or both of two whole numbers have.")
BITS(bitwise_xor, ", b", fast, "The bits in which two whole numbers differ.")
BITS(bitwise_not, "", fast_of_one,
     "Every bit of a whole number turned around: -1 - a where it has a sign.")
BITS(bitwise_left_shift, ", b", fast,
     "a moved up by b bits, a * 2^b; 0 where b is below 0 or at least the bits of the type.")
BITS(
    bitwise_right_shift, ", b", fast,
    "a moved down by b bits, floor(a / 2^b); 0, or -1 where a is below 0, where b is below 0 or at "
    "least the bits of the type.")

}  // namespace
}  // namespace thimble::ops::bitwise_impl

THIMBLE_OP_FOLDER(bitwise) {
  static const OpDef* const defs[] = {&bitwise_and_op(),        &bitwise_or_op(),
                                      &bitwise_xor_op(),        &bitwise_not_op(),
                                      &bitwise_left_shift_op(), &bitwise_right_shift_op()};
  return defs;
}

namespace thimble {

Value bitwise_and(Value a, Value b) {
  return a.graph().add1(ops::bitwise_impl::bitwise_and_op(), {}, {a, b});
}
Value bitwise_or(Value a, Value b) {
  return a.graph().add1(ops::bitwise_impl::bitwise_or_op(), {}, {a, b});
}
Value bitwise_xor(Value a, Value b) {
  return a.graph().add1(ops::bitwise_impl::bitwise_xor_op(), {}, {a, b});
}
Value bitwise_not(Value a) { return a.graph().add1(ops::bitwise_impl::bitwise_not_op(), {}, {a}); }
Value bitwise_left_shift(Value a, Value b) {
  return a.graph().add1(ops::bitwise_impl::bitwise_left_shift_op(), {}, {a, b});
}
Value bitwise_right_shift(Value a, Value b) {
  return a.graph().add1(ops::bitwise_impl::bitwise_right_shift_op(), {}, {a, b});
}

}  // namespace thimble
