#include <thimble/ops/clamp.h>
#include <thimble/ops/sum_to.h>

#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/nary/nary.h"
#include "ops/families/nary/nary_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP clamp
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"

namespace thimble::ops::clamp_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void clamp_simd(float* y, const float* x, const float* low, const float* high, const nary_dims* d,
                parallel::ThreadPool& pool);
void clamp_grad_simd(float* dx, const float* dy, const float* x, const float* low,
                     const float* high, const nary_dims* d, parallel::ThreadPool& pool);

namespace {

struct ClampGradAttrs {
  int64_t input = 0;  // the input whose gradient is computed: 0 x, 1 low, 2 high
};

void describe(ClampGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "whose gradient is taken: 0 x, 1 low, 2 high");
}

void check(const ir::InferContext& c, int x) {
  c.require(c.has(x + 1) || c.has(x + 2), "expected a lower bound, an upper bound or both");
}

const OpDef& clamp_grad_op() {
  static const OpDef def{
      .name = "clamp_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of clamp by one input: dy where it is what clamp gives, else 0; to "
                 "x where low <= x <= high, to low where x < low < high, to high where x > high or "
                 "high < low.",
          .inputs = {{"dy", "the broadcast shape"},
                     {"x", "clamp's input"},
                     {"low", "clamp's", true},
                     {"high", "clamp's", true}},
          .outputs = {{"dx", "the shape of dy"}},
          .attrs = ir::Attrs::schema_of<ClampGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1);
        const int64_t input = c.attrs.as<ClampGradAttrs>().input;
        c.require(input >= 0 && input <= 2 && c.has(static_cast<int>(input) + 1),
                  "expected the number of a given input, 0 to 2");
        c.require(broadcast_shape(c, 1, 3) == c.shape(0), "expected dy of the broadcast shape");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return nary_dims_of(c, static_cast<int>(c.attrs.as<ClampGradAttrs>().input));
          },
          .ref = ir::kernel_fn<&f32::clamp_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::clamp_grad_ref>(),
          .fast = ir::kernel_fn<&clamp_grad_simd>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

Value grad_by(const ir::VjpContext& c, int i) {
  if (!c.need(i)) return {};
  const Value inputs[] = {c.grad(), c.input(0), c.input(1), c.input(2)};
  const std::vector<Value> dx =
      c.grad().graph().add(clamp_grad_op(), ir::Attrs::of(ClampGradAttrs{i}), inputs);
  return sum_to(dx[0], c.input(i).shape());
}

const OpDef& clamp_op() {
  static const OpDef def{
      .name = "clamp",
      .signature{
          .doc =
              "x between bounds that are tensors: y = min(max(x, low), high), with broadcasting.",
          .example = "auto y = clamp(x, low, high);",
          .inputs = {{"x", "any shape"},
                     {"low", "a shape that broadcasts with that of x", true},
                     {"high", "a shape that broadcasts with that of x", true}},
          .outputs = {{"y", "the broadcast shape"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0);
        for (const int bound : {1, 2}) {
          if (c.has(bound)) require_same_quantization(c, 0, bound);
        }
        return {moved_type(c, 0, broadcast_shape(c, 0, 2))};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {grad_by(c, 0), grad_by(c, 1), grad_by(c, 2)};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return nary_dims_of(c); },
          .ref = ir::kernel_fn<&f32::clamp_ref>(),
          .ref64 = ir::kernel_fn<&f64::clamp_ref>(),
          .fast = ir::kernel_fn<&clamp_simd>(),
          .typed = INTEGER_KERNELS(clamp),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::clamp_impl

THIMBLE_OP_FOLDER(clamp) {
  static const OpDef* const defs[] = {&clamp_op(), &clamp_grad_op()};
  return defs;
}

namespace thimble {
Value clamp(Value x, Value low, Value high) {
  return x.graph().add1(ops::clamp_impl::clamp_op(), {}, {x, low, high});
}
}  // namespace thimble
