// The family of ops y = f(x), element by element. An op is its formula and its derivative, each in
// plain C (ref.h) and in vectors (simd.cpp), and a UnaryInfo (op.cpp).
#pragma once

#include "ir/graph.h"
#include "ops/families/unary/select_gradient.h"
#include "ops/families/unary/unary_dims.h"
#include "parallel/thread_pool.h"

namespace thimble::ops {

// Which tensor the derivative is computed from; the other one need not be kept.
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
  // See ir::Signature. With both of them, the tests of an op without attributes follow from its
  // definition.
  const char* torch = "";
  ir::Domain domain;
  // For ops with attributes: &ir::Attrs::schema_of<T>, the constants of the formula, and a check
  // that throws Error on values that make no sense.
  const ir::AttrSchema* (*attrs)() = nullptr;
  unary_dims (*constants)(const ir::Attrs&) = nullptr;
  void (*check)(const ir::InferContext&) = nullptr;
  // With these attributes the output does not tell the derivative, so that it reads the input.
  bool (*reads_input)(const ir::Attrs&) = nullptr;
  Activation activation = Activation::none;  // a matrix op may apply it while storing
  // The gradient is that of the output or 0, element by element, as the output says.
  bool selects = false;
  // Of the gradient op, where it looks at one bit of what is kept; null: it reads it whole.
  ir::MaskRule (*mask)(const ir::Attrs&) = nullptr;
  std::vector<ir::TypedKernels> (*typed)() = nullptr;  // of further types, without gradient
};

// Given name, doc, example, attrs, vjp and kernels it sets the rest of an op; params and infer only
// where they are missing. Kernels: (real* y, const real* x, const unary_dims*).
OpDef unary_op(OpDef def);

// The same for its gradient. Kernels: (real* dx, const real* dy, const real* kept,
// const unary_dims*) where kept is x or y.
OpDef unary_grad_op(OpDef def, Reads reads);

// The two ops that a UnaryInfo describes.
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
    });
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def = unary_grad_op(
        {
            .name = info.grad_name,
            .signature{.attrs = info.attrs == nullptr ? nullptr : info.attrs()},
            .kernels{
                .params = params,
                .ref = info.kernels.grad_ref,
                .ref64 = info.kernels.grad_ref64,
                .fast = info.kernels.grad_fast,
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

  // What op_folder_... returns.
  static std::span<const OpDef* const> folder() {
    static const OpDef* const defs[] = {&op(), &grad()};
    return defs;
  }

 private:
  static std::vector<ir::TensorType> infer(const ir::InferContext& c) {
    c.require_dtype(0, DType::f32);
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
