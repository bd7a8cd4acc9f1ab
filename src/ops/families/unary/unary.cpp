#include "ops/families/unary/unary.h"

#include <thimble/ops/requantize.h>

#include "ops/families/move/scales.h"

namespace thimble::ops {
namespace {

std::vector<ir::TensorType> infer_same(const ir::InferContext& c) {
  for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
    c.require(c.shape(i) == c.shape(0), "expected tensors of one shape");
  }
  require_plain_numbers(c);
  return {{c.input(0).dtype, c.shape(0)}};
}

ir::Params count_only(const ir::KernelContext& c) {
  return unary_dims{.n = static_cast<int>(c.out().elements())};
}

}  // namespace

OpDef unary_op(OpDef def) {
  def.signature.inputs = {{"x", "any shape"}};
  def.signature.outputs = {{"y", "the shape of x"}};
  if (def.infer == nullptr) def.infer = infer_same;
  if (def.kernels.params == nullptr) def.kernels.params = count_only;
  def.flow.elementwise = true;
  def.memory.in_place = {{0, 0}};
  return def;
}

std::vector<Value> clamped_int8(const ir::QuantizeContext& c) {
  return {requantize(c.input(0), {c.scale, c.zero_point, c.requantization})};
}

OpDef unary_grad_op(OpDef def, Reads reads) {
  def.signature.doc = "The gradient of the op it is named after.";
  def.signature.inputs = {{"dy", "any shape"},
                          {reads == Reads::input ? "x" : "y", "the shape of dy"}};
  def.signature.outputs = {{"dx", "the shape of dy"}};
  def.infer = infer_same;
  if (def.kernels.params == nullptr) def.kernels.params = count_only;
  def.flow.elementwise = true;
  def.memory.in_place = {{0, 0}, {0, 1}};
  return def;
}

}  // namespace thimble::ops
