#include "ops/families/builder/compose.h"

#include <fmt/format.h>
#include <thimble/error.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/sum.h>

#include <numeric>

#include "ir/own_constant.h"

namespace thimble::ops {

Value number(Value x, double value) {
  return ir::own_constant(x.graph(), fmt::format("@number {}", value),
                          Array(std::vector{static_cast<float>(value)}, {}));
}

Value reduce_loss(Value terms, Reduction reduction) {
  switch (reduction) {
    case Reduction::none:
      return terms;
    case Reduction::mean:
      return mean(terms);
    case Reduction::sum:
      return sum(terms);
    case Reduction::batch_mean:
      break;
  }
  const int rank = terms.shape().rank();
  if (rank == 0) throw Error("loss", "batch_mean needs a batch: at least one dimension");
  if (rank == 1) return mean(terms);
  std::vector<int64_t> inner(static_cast<size_t>(rank) - 1);
  std::iota(inner.begin(), inner.end(), 1);
  return mean(sum(terms, {.axes = inner}));
}

void require_same_shape(const char* op, Value x, Value t) {
  if (x.shape() == t.shape()) return;
  throw Error(op, "expected tensors of one shape, got " + to_string(x.shape()) + ", " +
                      to_string(t.shape()));
}

}  // namespace thimble::ops
