#include <thimble/ops/relu.h>

#include "ops/common/ref.h"
#include "ops/common/unary.h"

namespace thimble::ops {
namespace {

namespace f32 {
using real = float;
#include "ops/relu/ref.h"
}  // namespace f32
namespace f64 {
using real = double;
#include "ops/relu/ref.h"
}  // namespace f64

struct Relu {
  static constexpr const char* name = "relu";
  static constexpr const char* grad_name = "relu_grad";
  static constexpr const char* doc = "Rectified linear unit: y = max(x, 0).";
  static constexpr const char* example = "auto y = relu(x);";
  static constexpr Reads reads = Reads::output;
  static constexpr Activation activation = Activation::relu;
  using Attributes = NoAttrs;
  static unary_dims params(const Attributes&) { return {}; }
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::relu_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::relu_ref>();
  static constexpr ir::KernelFn fast = nullptr;
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::relu_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::relu_grad_ref>();
  static constexpr ir::KernelFn grad_fast = nullptr;
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(relu) { return Unary<Relu>::folder(); }

namespace thimble {

Value relu(Value x) { return ops::Unary<ops::Relu>::apply(x); }

Value relu_grad(Value dy, Value y) {
  return dy.graph().add1(ops::Unary<ops::Relu>::grad(), {}, {dy, y});
}

}  // namespace thimble
