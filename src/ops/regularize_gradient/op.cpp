#include <thimble/ops/regularize_gradient.h>

#include "ir/graph.h"
#include "ops/families/kernel/ref.h"
#include "ops/regularize_gradient/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP regularize_gradient
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::regularize_gradient_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void regularize_gradient_simd(float* y, const float* grad, const float* param,
                              const regularize_gradient_dims* d, parallel::ThreadPool& pool);

namespace {

const OpDef& regularize_gradient_op() {
  static const OpDef def{
      .name = "regularize_gradient",
      .signature{
          .doc = "The gradient of a loss with the penalties l1 * sum(|param|) + l2 / 2 * "
                 "sum(param^2): y = grad + l1 * sign(param) + l2 * param.",
          .inputs = {{"grad", "any shape"}, {"param", "the shape of grad"}},
          .outputs = {{"y", "the shape of grad"}},
          .attrs = ir::Attrs::schema_of<RegularizeGradientOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.shape(0) == c.shape(1), "expected a gradient of the parameter's shape");
        const auto& options = c.attrs.as<RegularizeGradientOptions>();
        c.require(options.l1 >= 0.0 && options.l2 >= 0.0, "l1 and l2 must not be negative");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            regularize_gradient_dims d{};
            d.n = static_cast<int>(c.out().elements());
            d.l1 = c.attrs.as<RegularizeGradientOptions>().l1;
            d.l2 = c.attrs.as<RegularizeGradientOptions>().l2;
            return d;
          },
          .ref = ir::kernel_fn<&f32::regularize_gradient_ref>(),
          .ref64 = ir::kernel_fn<&f64::regularize_gradient_ref>(),
          .fast = ir::kernel_fn<&regularize_gradient_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::regularize_gradient_impl

THIMBLE_OP_FOLDER(regularize_gradient) {
  static const OpDef* const defs[] = {&regularize_gradient_op()};
  return defs;
}

namespace thimble {

void describe(RegularizeGradientOptions& a, ir::FieldVisitor& v) {
  v.field("l1", a.l1, "of the sum of magnitudes");
  v.field("l2", a.l2, "of half the sum of squares");
}

Value regularize_gradient(Value grad, Value param, const RegularizeGradientOptions& options) {
  return grad.graph().add1(ops::regularize_gradient_impl::regularize_gradient_op(),
                           ir::Attrs::of(options), {grad, param});
}

}  // namespace thimble
