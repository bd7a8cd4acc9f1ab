#include <thimble/ops/div.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/remainder.h>
#include <thimble/ops/sum_to.h>
#include <thimble/ops/trunc.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"
#include "ops/remainder/dims.h"

#define THIMBLE_OP remainder
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::remainder_impl {
namespace {

using Part = void (*)(void*, const void*, const void*, const remainder_dims*, int, int);

// Divides the runs of the innermost axis among threads. Uses C's fmod, which is exact for every
// quotient; no vector formula is.
template <Part part>
void fast(unsigned char* y, const void* a, const void* b, const remainder_dims* d,
          parallel::ThreadPool& pool) {
  constexpr int64_t kTaskElements = 4096;
  const int64_t inner = d->walk.size[0];
  const int64_t runs = d->walk.n / inner;
  const int64_t each = std::max<int64_t>(1, kTaskElements / inner);
  pool.run((runs + each - 1) / each, [&](int64_t task) {
    const int64_t end = std::min(runs, (task + 1) * each);
    part(y, a, b, d, static_cast<int>(task * each * inner), static_cast<int>(end * inner));
  });
}

// The gradients of a - b * whole, where `whole` is piecewise constant.
template <Value (*whole)(Value, Value)>
std::vector<Value> vjp(const ir::VjpContext& c) {
  std::vector<Value> grads(2);
  if (c.need(0)) grads[0] = sum_to(c.grad(), c.input(0).shape());
  if (c.need(1)) {
    grads[1] = -sum_to(c.grad() * whole(c.input(0), c.input(1)), c.input(1).shape());
  }
  return grads;
}
Value whole_towards_zero(Value a, Value b) { return trunc(a / b); }

// Completes the definition; the caller sets name, doc, example, gradient and kernels.
OpDef division(OpDef def) {
  def.signature.inputs = {{"a", "any shape"}, {"b", "a shape that broadcasts"}};
  def.signature.outputs = {{"y", "the broadcast shape; the type of a"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    require_plain_numbers(c);
    return {{c.input(0).dtype, broadcast_shape(c, 0, 1)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return remainder_dims{nary_dims_of(c), static_cast<int>(c.inputs[0]->dtype)};
  };
  for (const DType dtype : {DType::i32, DType::i64}) {
    def.kernels.typed.push_back(
        {.inputs = {dtype}, .ref = def.kernels.ref, .fast = def.kernels.fast});
  }
  def.flow.elementwise = true;
  return def;
}

#define DIVISION(op, rule, text)                             \
  const OpDef& op##_op() {                                   \
    static const OpDef def = division({                      \
        .name = #op,                                         \
        .signature{                                          \
            .doc = text,                                     \
            .example = "auto y = " #op "(a, b);",            \
        },                                                   \
        .gradient{.vjp = rule},                              \
        .kernels{                                            \
            .ref = ir::kernel_fn<&f32::op##_ref>(),          \
            .ref64 = ir::kernel_fn<&f64::op##_ref>(),        \
            .fast = ir::kernel_fn<&fast<&f32::op##_part>>(), \
        },                                                   \
    });                                                      \
    return def;                                              \
  }

DIVISION(remainder, vjp<&floor_divide>,
         "The remainder of a divided by b, of the sign of b: y = a - b * floor(a / b).")
DIVISION(fmod, vjp<&whole_towards_zero>,
         "The remainder of a divided by b, of the sign of a: y = a - b * trunc(a / b).")
DIVISION(
    floor_divide, [](const ir::VjpContext&) { return std::vector<Value>(2); },
    "The quotient rounded down: y = floor(a / b); its gradient is 0.")

}  // namespace
}  // namespace thimble::ops::remainder_impl

THIMBLE_OP_FOLDER(remainder) {
  static const OpDef* const defs[] = {&remainder_op(), &fmod_op(), &floor_divide_op()};
  return defs;
}

namespace thimble {

Value remainder(Value a, Value b) {
  return a.graph().add1(ops::remainder_impl::remainder_op(), {}, {a, b});
}
Value fmod(Value a, Value b) { return a.graph().add1(ops::remainder_impl::fmod_op(), {}, {a, b}); }
Value floor_divide(Value a, Value b) {
  return a.graph().add1(ops::remainder_impl::floor_divide_op(), {}, {a, b});
}

}  // namespace thimble
