#include <thimble/ops/scatter_add.h>
#include <thimble/ops/topk.h>

#include <algorithm>
#include <numeric>

#include "ir/graph.h"
#include "ops/common/axes.h"
#include "ops/topk/attrs.h"
#include "ops/topk/dims.h"

#define THIMBLE_REF "ops/topk/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

// Places the first k of [0, size) in front, in their order. Few are kept in a heap that most others
// only look at; many are parted from the rest first.
template <class Before>
void select(int* order, int size, int k, const Before& before) {
  std::iota(order, order + size, 0);
  if (k < size / 8) {
    std::partial_sort(order, order + k, order + size, before);
    return;
  }
  if (k < size) std::nth_element(order, order + k, order + size, before);
  std::sort(order, order + k, before);
}

// workspace: one row of numbers a thread.
void fast(float* values, int32_t* indices, const float* x, void* workspace, const topk_dims* d,
          exec::ThreadPool& pool) {
  const int64_t inner = d->along.inner;
  pool.run_with_worker(d->along.outer * inner, [&](int64_t row, int worker) {
    const float* line = x + row / inner * d->along.size * inner + row % inner;
    int* const order = static_cast<int*>(workspace) + int64_t{worker} * d->along.size;
    select(order, d->along.size, d->k,
           [line, d](int i, int j) { return f32::topk_before(line, i, j, d) != 0; });
    const int64_t to = row / inner * d->k * inner + row % inner;
    for (int rank = 0; rank < d->k; ++rank) {
      values[to + rank * inner] = line[order[rank] * inner];
      indices[to + rank * inner] = order[rank];
    }
  });
}

ir::Params params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<TopkOptions>();
  topk_dims d{};
  d.along = axis_dims_of(c.in(0), options.axis);
  d.k = static_cast<int>(options.k);
  d.largest = options.largest ? 1 : 0;
  return d;
}

const OpDef& topk_op() {
  static const OpDef def{
      .name = "topk",
      .doc =
          "The k largest (or smallest) elements along an axis, the best first, and where they "
          "stood; of equal ones the first come first.",
      .example = "auto best = topk(scores, {.k = 5}).indices;",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"values", "x with k elements of the axis"}, {"indices", "likewise, i32"}},
      .attrs = ir::Attrs::schema_of<TopkOptions>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const auto& options = c.attrs.as<TopkOptions>();
        c.require_dtype(0, DType::f32);
        std::vector<int64_t> dims = c.shape(0).dims();
        const int axis = checked_axis(c, options.axis, c.shape(0).rank());
        int64_t& size = dims[static_cast<size_t>(axis)];
        c.require(options.k >= 0 && options.k <= size,
                  "expected k of at most the size of the axis");
        size = options.k;
        return {{DType::f32, Shape(dims)}, {DType::i32, Shape(dims)}};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const ScatterAddOptions options{c.attrs.as<TopkOptions>().axis, c.input(0).shape()};
        return {scatter_add({}, c.output(1), c.grad(), options)};
      },
      .params = params,
      .workspace = [](const ir::Params& p,
                      int threads) { return int64_t{4} * threads * p.as<topk_dims>().along.size; },
      .ref = ir::kernel_fn<&f32::topk_ref>(),
      .ref64 = ir::kernel_fn<&f64::topk_ref>(),
      .fast = ir::kernel_fn<&fast>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(topk) {
  static const OpDef* const defs[] = {&topk_op()};
  return defs;
}

namespace thimble {
Topk topk(Value x, const TopkOptions& options) {
  const Value inputs[] = {x};
  const std::vector<Value> out = x.graph().add(ops::topk_op(), ir::Attrs::of(options), inputs);
  return {out[0], out[1]};
}
}  // namespace thimble
