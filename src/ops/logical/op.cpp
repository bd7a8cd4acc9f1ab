#include <thimble/ops/logical.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/nary/nary.h"
#include "ops/logical/dims.h"

#define THIMBLE_OP logical
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::logical_impl {
namespace {

using Part = void (*)(uint8_t*, const void*, const void*, const logical_dims*, int, int);

// Divides the runs of the innermost axis among threads.
template <Part part>
void fast(uint8_t* y, const void* a, const void* b, const logical_dims* d,
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
void fast_of_one(uint8_t* y, const void* a, const logical_dims* d, parallel::ThreadPool& pool) {
  fast<part>(y, a, nullptr, d, pool);
}

// Completes the definition; the caller sets name, doc, example and kernels.
OpDef logic(OpDef def, bool two) {
  def.signature.inputs = {{"a", "any shape"}};
  if (two) def.signature.inputs.push_back({"b", "a shape that broadcasts"});
  def.signature.outputs = {{"y", "the broadcast shape, u8"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    const int last = static_cast<int>(c.inputs.size()) - 1;
    require_plain_numbers(c);
    return {{DType::u8, broadcast_shape(c, 0, last)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    logical_dims d{};
    d.walk = nary_dims_of(c);
    for (size_t i = 0; i < c.inputs.size(); ++i) d.type[i] = static_cast<int>(c.inputs[i]->dtype);
    return d;
  };
  def.kernels.any_type = true;
  def.flow.elementwise = true;
  return def;
}

#define LOGIC(op, two, run, text)                               \
  const OpDef& op##_op() {                                      \
    static const OpDef def = logic(                             \
        {                                                       \
            .name = #op,                                        \
            .signature{                                         \
                .doc = "1 where " text ", else 0, of u8.",      \
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

LOGIC(logical_and, ", b", fast, "neither a nor b is 0")
LOGIC(logical_or, ", b", fast, "a or b is not 0")
LOGIC(logical_xor, ", b", fast, "one of a and b is 0 and the other is not")
LOGIC(logical_not, "", fast_of_one, "a is 0")

}  // namespace
}  // namespace thimble::ops::logical_impl

THIMBLE_OP_FOLDER(logical) {
  static const OpDef* const defs[] = {&logical_and_op(), &logical_or_op(), &logical_xor_op(),
                                      &logical_not_op()};
  return defs;
}

namespace thimble {

Value logical_and(Value a, Value b) {
  return a.graph().add1(ops::logical_impl::logical_and_op(), {}, {a, b});
}
Value logical_or(Value a, Value b) {
  return a.graph().add1(ops::logical_impl::logical_or_op(), {}, {a, b});
}
Value logical_xor(Value a, Value b) {
  return a.graph().add1(ops::logical_impl::logical_xor_op(), {}, {a, b});
}
Value logical_not(Value a) { return a.graph().add1(ops::logical_impl::logical_not_op(), {}, {a}); }

}  // namespace thimble
