// The family of ops y = f(x), element by element. An op consists of its formula and its derivative,
// each in plain C (ref.h) and in vectors (simd.cpp), and a UnaryInfo (op.cpp).
#pragma once

#include "ir/graph.h"
#include "ops/families/unary/select_gradient.h"
#include "ops/families/unary/unary_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Whether the derivative is computed from the input or from the output; the other one need not be
// kept.
enum class Reads : uint8_t { input, output };

// See UNARY_KERNELS.
struct UnaryKernels {
  ir::KernelFn ref, ref64, fast;
  ir::KernelFn grad_ref, grad_ref64, grad_fast;
};

struct UnaryInfo {
  const char* name;
  const char* grad_name;
  const char* doc;
  const char* example;
  Reads reads;
  UnaryKernels kernels;
  // See ir::Signature: torch and domain, or cases. The tests follow from them.
  const char* torch = "";
  ir::Domain domain;
  std::span<const ir::TestCase> cases;
  // For ops with attributes: &ir::Attrs::schema_of<T>, the constants of the formula, and a check
  // that throws Error for invalid values.
  const ir::AttrSchema* (*attrs)() = nullptr;
  unary_dims (*constants)(const ir::Attrs&) = nullptr;
  void (*check)(const ir::InferContext&) = nullptr;
  // Whether with these attributes the derivative does not follow from the output and must read the
  // input.
  bool (*reads_input)(const ir::Attrs&) = nullptr;
  Activation activation =
      Activation::none;  // the activation that a matrix op may fuse; none: not fusible
  // The gradient is dy or 0, element by element, as the output decides.
  bool selects = false;
  // Its fast kernel for f16 and bf16 (ir::Kernels::fast_16bit); null: it is widened.
  ir::KernelFn grad_16bit = nullptr;
  // The mask rule of the gradient op if it needs one bit of each kept element; null: it needs the
  // whole element.
  ir::MaskRule (*mask)(const ir::Attrs&) = nullptr;
  std::vector<ir::TypedKernels> (*typed)() =
      nullptr;                                 // kernels of further types, which have no gradient
  bool (*clamps)(const ir::Attrs&) = nullptr;  // ir::QuantizeRule::clamps
  // ir::QuantizeRule::build, for a result of any scale; of what clamps it is clamped_int8.
  std::vector<Value> (*quantized)(const ir::QuantizeContext&) = nullptr;
};

// scale * x + shift: the op of ops/affine.
[[nodiscard]] const OpDef& linear_op();

// Completes the definition of an op. The caller sets name, doc, example, attrs, vjp and kernels;
// params and infer are set only if missing. Kernels: (real* y, const real* x, const unary_dims*).
OpDef unary_op(OpDef def);

// A clamp of int8: the bounds of a result of another scale.
std::vector<Value> clamped_int8(const ir::QuantizeContext& c);

// Completes the definition of its gradient op. Kernels: (real* dx, const real* dy, const real*
// kept, const unary_dims*), where kept is x or y.
OpDef unary_grad_op(OpDef def, Reads reads);

// The op and its gradient op, as a UnaryInfo describes them.
template <const UnaryInfo& info>
struct Unary {
  static const OpDef& op() {
    static const OpDef def = unary_op({
        .name = info.name,
        .signature{
            .doc = info.doc,
            .example = info.example,
            .attrs = info.attrs == nullptr ? nullptr : info.attrs(),
            .torch = info.torch,
            .domain = info.domain,
            .cases = info.cases,
        },
        .infer = infer,
        .gradient{.vjp = vjp},
        .rewrite{.is_activation = info.activation},
        .kernels{
            .params = params,
            .ref = info.kernels.ref,
            .ref64 = info.kernels.ref64,
            .fast = info.kernels.fast,
            .typed = info.typed == nullptr ? std::vector<ir::TypedKernels>() : info.typed(),
        },
        .quantized{
            .build = info.clamps == nullptr ? info.quantized : clamped_int8,
            .rescales = info.clamps != nullptr || info.quantized != nullptr,
            .clamps = info.clamps,
        },
    });
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def = unary_grad_op(
        {
            .name = info.grad_name,
            .is_gradient = true,
            .signature{.attrs = info.attrs == nullptr ? nullptr : info.attrs()},
            .kernels{
                .params = params,
                .ref = info.kernels.grad_ref,
                .ref64 = info.kernels.grad_ref64,
                .fast = info.kernels.grad_fast,
                .fast_16bit = info.grad_16bit,
                .inputs_16bit = {0, 1},
            },
            .memory{.mask = info.mask},
        },
        info.reads);
    return def;
  }

  static Value apply(Value x, ir::Attrs attrs = {}) {
    return x.graph().add1(op(), std::move(attrs), {x});
  }

  static Value apply_grad(Value dy, Value kept, ir::Attrs attrs = {}) {
    return dy.graph().add1(grad(), std::move(attrs), {dy, kept});
  }

  // The ops of the folder, returned by op_folder_...
  static std::span<const OpDef* const> folder() {
    static const OpDef* const defs[] = {&op(), &grad()};
    return defs;
  }

 private:
  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    if (info.check != nullptr) info.check(c);
    return {{c.input(0).dtype, c.shape(0)}};
  }
  static std::vector<Value> vjp(const ir::VjpContext& c) {
    const bool input =
        info.reads == Reads::input || (info.reads_input != nullptr && info.reads_input(c.attrs));
    if (info.selects) {
      return {select_gradient(c.grad(), c.output(),
                              [&c](Value dy, Value y) { return apply_grad(dy, y, c.attrs); })};
    }
    return {apply_grad(c.grad(), input ? c.input(0) : c.output(), c.attrs)};
  }
  static ir::Params params(const ir::KernelContext& c) {
    unary_dims dims = info.constants == nullptr ? unary_dims{} : info.constants(c.attrs);
    dims.n = static_cast<int>(c.out().elements());
    return dims;
  }
};

}  // namespace thimble::ops

// Declares the fast kernels that UNARY_SIMD_EXPORT defines in the folder's simd.cpp.
#define UNARY_SIMD_DECLARE_LINEAR(op)                                                          \
  namespace thimble::ops::op##_impl {                                                          \
    void op##_simd(float* y, const float* x, const unary_dims* d, parallel::ThreadPool& pool); \
  }
#define UNARY_SIMD_DECLARE(op)                                                              \
  UNARY_SIMD_DECLARE_LINEAR(op)                                                             \
  namespace thimble::ops::op##_impl {                                                       \
    void op##_grad_simd(float* dx, const float* dy, const float* kept, const unary_dims* d, \
                        parallel::ThreadPool& pool);                                        \
  }

// The kernels of the folder's ref.h and simd.cpp as a UnaryKernels.
#define UNARY_KERNELS(op)                                                                          \
  ::thimble::ops::UnaryKernels {                                                                   \
    ir::kernel_fn<&f32::op##_ref>(), ir::kernel_fn<&f64::op##_ref>(), ir::kernel_fn<&op##_simd>(), \
        ir::kernel_fn<&f32::op##_grad_ref>(), ir::kernel_fn<&f64::op##_grad_ref>(),                \
        ir::kernel_fn<&op##_grad_simd>()                                                           \
  }
