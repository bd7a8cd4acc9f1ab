#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/sum_to.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/scales.h"
#include "ops/families/reduction/axes.h"
#include "ops/families/reduction/sum.h"
#include "ops/sum_to/attrs.h"

#define THIMBLE_OP sum_to
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::sum_to_impl {
namespace {

// Whether an axis of x, counted from the last (-1), is missing in y or has size 1 there.
bool is_summed(const Shape& y, int axis) { return axis < -y.rank() || y[axis] == 1; }

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& x = c.shape(0);
  const Shape& y = c.attrs.as<SumToAttrs>().shape;
  require_plain_numbers(c);
  c.require(x.rank() <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  bool fits = y.rank() <= x.rank();
  for (int axis = -1; fits && axis >= -y.rank(); --axis) fits = y[axis] == x[axis] || y[axis] == 1;
  c.require(fits, fmt::format("x is no shape that {} broadcasts to", to_string(y)));
  return {{c.input(0).dtype, y}};
}

ir::Params params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  std::vector<char> summed;
  for (int axis = -x.rank(); axis < 0; ++axis) summed.push_back(is_summed(c.out(), axis) ? 1 : 0);
  return reduce_dims_of(x, summed, 1);
}

const OpDef& sum_to_op() {
  static const OpDef def{
      .name = "sum_to",
      .signature{
          .doc = "The opposite of broadcasting: x summed over the axes along which a tensor of the "
                 "given shape would be repeated.",
          .example = "auto y = sum_to(x, {3, 1});",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the given shape"}},
          .attrs = ir::Attrs::schema_of<SumToAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {broadcast_to(c.grad(), c.input(0).shape())};
      }},
      .kernels{
          .params = params,
          .workspace = sum_workspace,
          .ref = ir::kernel_fn<&f32::sum_to_ref>(),
          .ref64 = ir::kernel_fn<&f64::sum_to_ref>(),
          .fast = ir::kernel_fn<&sum_simd>(),
          .typed = SUM_KERNELS(sum_to),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::sum_to_impl

namespace thimble::ops {

const OpDef& broadcast_sum_op() { return sum_to_impl::sum_to_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(sum_to) {
  static const OpDef* const defs[] = {&sum_to_op()};
  return defs;
}

namespace thimble {

Value sum_to(Value x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return x.graph().add1(ops::sum_to_impl::sum_to_op(), ir::Attrs::of(SumToAttrs{shape}), {x});
}

}  // namespace thimble
