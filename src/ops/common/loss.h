// What losses share, and the family of losses that are sums over pairs of elements.
#pragma once

#include "ir/graph.h"
#include "ops/common/loss_dims.h"

namespace thimble {

inline void describe(LossOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the terms become one number");
}

namespace ops {

// What the sum of `terms` numbers over a tensor of that shape is divided by.
int loss_divisor(Reduction reduction, const Shape& shape, int64_t terms);

// Refuses batch_mean where there is no batch.
void require_reducible(const ir::InferContext& c, Reduction reduction, const Shape& shape);

// Throws Error unless no gradient by that input is wanted.
void refuse_gradient(const ir::VjpContext& c, int input, const OpDef& op);

// Workspace of reduce_terms (loss-inl.h); params hold loss_dims.
int64_t loss_workspace(const ir::Params& params, int threads);

// The definitions of a loss y = reduce of f(x_i, t_i), described by a type T with the members
//   name, grad_name, doc, example
//   x, t: names of the inputs;  symmetric: f(x, t) = f(t, x), so that t has a gradient too
//   using Options with a field reduction
//   double a(const Options&): the constant of the formula
//   void check(const ir::InferContext&, const Options&): refuses bad options
//   ref, ref64, fast, grad_ref, grad_ref64, grad_fast: kernels
//     op:   (real* y, const real* x, const real* t[, void* workspace], const loss_dims*[, pool])
//     grad: (real* dx, const real* dy, const real* x, const real* t, const loss_dims*[, pool])
template <class T>
struct ElementLoss {
  using Options = typename T::Options;

  static const OpDef& op() {
    static const OpDef def{
        .name = T::name,
        .doc = T::doc,
        .example = T::example,
        .inputs = {{T::x, "any shape"}, {T::t, "the same shape"}},
        .outputs = {{"loss", "one number"}},
        .attrs = ir::Attrs::schema_of<Options>(),
        .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          const auto& options = c.attrs.as<Options>();
          require_pair(c, 0);
          require_reducible(c, options.reduction, c.shape(0));
          T::check(c, options);
          return {{DType::f32, {}}};
        },
        .vjp = vjp,
        .params = [](const ir::KernelContext& c) { return params(c, c.in(0)); },
        .workspace = T::fast == nullptr ? nullptr : loss_workspace,
        .ref = T::ref,
        .ref64 = T::ref64,
        .fast = T::fast,
    };
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def{
        .name = T::grad_name,
        .doc = "The gradient of the loss it is named after by its first input.",
        .inputs = {{"dy", "one number"}, {T::x, "any shape"}, {T::t, "the same shape"}},
        .outputs = {{"dx", "the same shape"}},
        .attrs = ir::Attrs::schema_of<Options>(),
        .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          c.require(c.input(0) == ir::TensorType{}, "expected dy as one number of type f32");
          require_pair(c, 1);
          return {c.input(1)};
        },
        .params = [](const ir::KernelContext& c) { return params(c, c.in(1)); },
        .ref = T::grad_ref,
        .ref64 = T::grad_ref64,
        .fast = T::grad_fast,
        .in_place = {{0, 1}, {0, 2}},
    };
    return def;
  }

  static Value apply(Value x, Value t, const Options& options) {
    return x.graph().add1(op(), ir::Attrs::of(options), {x, t});
  }

  // What op_folder_... returns.
  static std::span<const OpDef* const> folder() {
    static const OpDef* const defs[] = {&op(), &grad()};
    return defs;
  }

 private:
  static void require_pair(const ir::InferContext& c, int first) {
    c.require_dtype(first, DType::f32);
    c.require_dtype(first + 1, DType::f32);
    c.require(c.shape(first) == c.shape(first + 1),
              std::string("expected ") + T::x + " and " + T::t + " of one shape");
  }
  static ir::Params params(const ir::KernelContext& c, const Shape& x) {
    const auto& options = c.attrs.as<Options>();
    return loss_dims{static_cast<int>(x.elements()),
                     loss_divisor(options.reduction, x, x.elements()), T::a(options)};
  }
  static std::vector<Value> vjp(const ir::VjpContext& c) {
    const Value x = c.input(0);
    const Value t = c.input(1);
    std::vector<Value> grads(2);
    ir::Graph& graph = x.graph();
    if (c.need(0)) grads[0] = graph.add1(grad(), c.attrs, {c.grad(), x, t});
    if constexpr (T::symmetric) {
      if (c.need(1)) grads[1] = graph.add1(grad(), c.attrs, {c.grad(), t, x});
    } else {
      refuse_gradient(c, 1, op());
    }
    return grads;
  }
};

}  // namespace ops
}  // namespace thimble
