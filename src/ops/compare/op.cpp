#include <thimble/ops/compare.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/compare/dims.h"
#include "ops/families/move/scales.h"
#include "ops/families/nary/nary.h"

#define THIMBLE_OP compare
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::compare_impl {
namespace {

using Part = void (*)(uint8_t*, const void*, const void*, const compare_dims*, int, int);

// Divides the runs of the innermost axis among threads.
template <Part part>
void fast(uint8_t* y, const void* a, const void* b, const compare_dims* d,
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

// Completes the definition; the caller sets name, doc, example and kernels.
OpDef comparison(OpDef def) {
  def.signature.inputs = {{"a", "any shape"},
                          {.name = "b", .doc = "a shape that broadcasts", .type_of = 0}};
  def.signature.outputs = {{"y", "the broadcast shape, u8"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    require_same_quantization(c, 0, 1);
    require_one_scale(c, 0);
    return {{DType::u8, broadcast_shape(c, 0, 1)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return compare_dims{nary_dims_of(c), static_cast<int>(c.inputs[0]->dtype)};
  };
  def.kernels.any_type = true;
  def.flow.elementwise = true;
  return def;
}

#define COMPARISON(op, sign)                                     \
  const OpDef& op##_op() {                                       \
    static const OpDef def = comparison({                        \
        .name = #op,                                             \
        .signature{                                              \
            .doc = "1 where a " #sign " b, else 0, of type u8.", \
            .example = "auto y = " #op "(a, b);",                \
        },                                                       \
        .kernels{                                                \
            .ref = ir::kernel_fn<&f32::op##_ref>(),              \
            .ref64 = ir::kernel_fn<&f64::op##_ref>(),            \
            .fast = ir::kernel_fn<&fast<&f32::op##_part>>(),     \
        },                                                       \
    });                                                          \
    return def;                                                  \
  }

COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)

}  // namespace
}  // namespace thimble::ops::compare_impl

THIMBLE_OP_FOLDER(compare) {
  static const OpDef* const defs[] = {&eq_op(), &ne_op(), &lt_op(), &le_op(), &gt_op(), &ge_op()};
  return defs;
}

namespace thimble {

Value eq(Value a, Value b) { return a.graph().add1(ops::compare_impl::eq_op(), {}, {a, b}); }
Value ne(Value a, Value b) { return a.graph().add1(ops::compare_impl::ne_op(), {}, {a, b}); }
Value lt(Value a, Value b) { return a.graph().add1(ops::compare_impl::lt_op(), {}, {a, b}); }
Value le(Value a, Value b) { return a.graph().add1(ops::compare_impl::le_op(), {}, {a, b}); }
Value gt(Value a, Value b) { return a.graph().add1(ops::compare_impl::gt_op(), {}, {a, b}); }
Value ge(Value a, Value b) { return a.graph().add1(ops::compare_impl::ge_op(), {}, {a, b}); }

}  // namespace thimble
