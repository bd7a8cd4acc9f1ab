#include <thimble/ops/argmax.h>

#include "ir/graph.h"
#include "ops/argmax/attrs.h"
#include "ops/common/axes.h"
#include "ops/common/extremum.h"

#define THIMBLE_REF "ops/argmax/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& options = c.attrs.as<ArgmaxOptions>();
  const Shape& x = c.shape(0);
  c.require_dtype(0, DType::f32);
  const int axis = checked_axis(c, options.axis, x.rank());
  c.require(x[axis] > 0, "there is no largest element of nothing");
  std::vector<char> chosen(static_cast<size_t>(x.rank()), 0);
  chosen[static_cast<size_t>(axis)] = 1;
  return {{DType::i32, reduced_shape(x, chosen, options.keepdims)}};
}

void fast(int32_t* y, const float* x, const axis_dims* d, exec::ThreadPool& pool) {
  d->inner == 1 ? place_of_largest_simd(y, x, d, pool) : f32::argmax_ref(y, x, d);
}

const OpDef& argmax_op() {
  static const OpDef def{
      .name = "argmax",
      .doc = "The index of the largest element along an axis; of equal ones the first.",
      .example = "auto digit = argmax(logits);",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"y", "i32: x without the axis, or with size 1 in its place"}},
      .attrs = ir::Attrs::schema_of<ArgmaxOptions>(),
      .infer = infer,
      .params = [](const ir::KernelContext& c) -> ir::Params {
        return axis_dims_of(c.in(0), c.attrs.as<ArgmaxOptions>().axis);
      },
      .ref = ir::kernel_fn<&f32::argmax_ref>(),
      .ref64 = ir::kernel_fn<&f64::argmax_ref>(),
      .fast = ir::kernel_fn<&fast>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(argmax) {
  static const OpDef* const defs[] = {&argmax_op()};
  return defs;
}

namespace thimble {
Value argmax(Value x, const ArgmaxOptions& options) {
  return x.graph().add1(ops::argmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
