// The family of ops y = f(x), element by element: an op is its functor and its derivative.
#pragma once

#include "ir/graph.h"
#include "ops/common/unary_dims.h"

namespace thimble::ops {

// Which tensor the derivative is computed from; the other one need not be kept.
enum class Reads : uint8_t { input, output };

// Attributes of an op that has none.
struct NoAttrs {};
inline void describe(NoAttrs&, ir::FieldVisitor&) {}

// The kernels of a unary op as static members, for its description to derive from.
//   op:   (real* y, const real* x, const unary_dims*)
//   grad: (real* dx, const real* dy, const real* x or y, const unary_dims*)
template <auto ref32, auto ref_64, auto grad_ref32, auto grad_ref_64>
struct UnaryKernels {
  using Attributes = NoAttrs;
  static unary_dims params(const NoAttrs&) { return {}; }
  static constexpr Activation activation = Activation::none;
  static constexpr ir::KernelFn ref = ir::kernel_fn<ref32>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<ref_64>();
  static constexpr ir::KernelFn fast = nullptr;
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<grad_ref32>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<grad_ref_64>();
  static constexpr ir::KernelFn grad_fast = nullptr;
};

// The two definitions of a unary op described by a type T with the static members
//   name, grad_name, doc, example, reads
//   using Attributes; unary_dims params(const Attributes&) for the constants of the formula
//   ref, ref64, fast, grad_ref, grad_ref64, grad_fast: kernels
//     op:   (real* y, const real* x, const unary_dims*)
//     grad: (real* dx, const real* dy, const real* x or y, const unary_dims*)
//   activation (Activation::none unless matrix ops may fuse it)
template <class T>
struct Unary {
  using Attributes = typename T::Attributes;

  static const OpDef& op() {
    static const OpDef def{
        .name = T::name,
        .doc = T::doc,
        .example = T::example,
        .inputs = {{"x", "any shape"}},
        .outputs = {{"y", "the shape of x"}},
        .attrs = ir::Attrs::schema_of<Attributes>(),
        .infer = infer_same,
        .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
          const Value kept = T::reads == Reads::input ? c.input(0) : c.output();
          return {c.grad().graph().add1(grad(), c.attrs, {c.grad(), kept})};
        },
        .params = params,
        .ref = T::ref,
        .ref64 = T::ref64,
        .fast = T::fast,
        .elementwise = true,
        .in_place = {{0, 0}},
        .is_activation = T::activation,
    };
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def{
        .name = T::grad_name,
        .doc = "The gradient of the op it is named after.",
        .inputs = {{"dy", "any shape"}, {T::reads == Reads::input ? "x" : "y", "the shape of dy"}},
        .outputs = {{"dx", "the shape of dy"}},
        .attrs = ir::Attrs::schema_of<Attributes>(),
        .infer = infer_same,
        .params = params,
        .ref = T::grad_ref,
        .ref64 = T::grad_ref64,
        .fast = T::grad_fast,
        .elementwise = true,
        .in_place = {{0, 0}, {0, 1}},
    };
    return def;
  }

  static Value apply(Value x, Attributes attributes = {}) {
    return x.graph().add1(op(), ir::Attrs::of(std::move(attributes)), {x});
  }

  // What op_folder_... returns.
  static std::span<const OpDef* const> folder() {
    static const OpDef* const defs[] = {&op(), &grad()};
    return defs;
  }

 private:
  static std::vector<ir::TensorType> infer_same(const ir::InferContext& c) {
    for (int i = 0; i < static_cast<int>(c.inputs.size()); ++i) {
      c.require_dtype(i, DType::f32);
      c.require(c.shape(i) == c.shape(0), "expected tensors of one shape");
    }
    return {c.input(0)};
  }
  static ir::Params params(const ir::KernelContext& c) {
    unary_dims dims = T::params(c.attrs.as<Attributes>());
    dims.n = static_cast<int>(c.out().elements());
    return dims;
  }
};

}  // namespace thimble::ops
