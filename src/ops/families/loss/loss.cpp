#include "ops/families/loss/loss.h"

#include "ops/families/loss/loss_tiles.h"
#include "simd/workspace.h"

namespace thimble::ops {

int loss_divisor(Reduction reduction, const Shape& shape, int64_t terms) {
  switch (reduction) {
    case Reduction::mean:
      return static_cast<int>(terms);
    case Reduction::sum:
      return 1;
    case Reduction::none:
      return LOSS_TERMS;
    case Reduction::batch_mean:
      break;
  }
  return static_cast<int>(shape[0]);
}

ir::Samples samples_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::mean:
    case Reduction::batch_mean:
      return ir::Samples::mean;
    case Reduction::none:
      return ir::Samples::independent;
    case Reduction::sum:
      break;
  }
  return ir::Samples::mixed;
}

Shape rows_of(const Shape& shape) {
  std::vector<int64_t> rows = shape.dims();
  rows.pop_back();
  return Shape(rows);
}

void require_reducible(const ir::InferContext& c, Reduction reduction, const Shape& shape) {
  c.require(reduction != Reduction::batch_mean || shape.rank() > 0,
            "batch_mean needs a batch: at least one dimension");
}

void require_loss_grad(const ir::InferContext& c, Reduction reduction, const Shape& terms) {
  const Shape shape = loss_shape(reduction, terms);
  c.require(c.input(0) == ir::TensorType{DType::f32, shape},
            "expected dy of the loss's shape " + to_string(shape) + ", of type f32");
}

void refuse_gradient(const ir::VjpContext& c, int input, const OpDef& op) {
  if (!c.need(input)) return;
  throw Error(op.name, std::string("has no gradient by its ") +
                           op.signature.inputs[static_cast<size_t>(input)].name +
                           "; nothing trainable may lead there");
}

int64_t loss_workspace(const ir::Params& params, int /*threads*/) {
  const int64_t tiles = simd::divide_up(params.as<loss_dims>().n, kLossTile);
  return tiles > 1 ? tiles * static_cast<int64_t>(sizeof(float)) : 0;
}

}  // namespace thimble::ops
