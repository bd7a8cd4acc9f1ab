// Shared by losses; the family of losses that sum over pairs of elements.
#pragma once

#include "ir/graph.h"
#include "ops/families/loss/loss_dims.h"
#include "parallel/thread_pool.h"

namespace thimble {

inline void describe(LossOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the terms become one number");
}

namespace ops {

// The divisor of a sum of `terms` numbers over a tensor of that shape; LOSS_TERMS if the terms are
// not summed.
int loss_divisor(Reduction reduction, const Shape& shape, int64_t terms);

// The value of DataFlow::samples for a loss whose terms each depend on one sample.
ir::Samples samples_of(Reduction reduction);

// The shape of a loss whose terms have this shape.
inline Shape loss_shape(Reduction reduction, const Shape& terms) {
  return reduction == Reduction::none ? terms : Shape{};
}

// The shape without its last dimension: one number per row.
Shape rows_of(const Shape& shape);

// Fails for batch_mean if there is no batch dimension.
void require_reducible(const ir::InferContext& c, Reduction reduction, const Shape& shape);

// Fails unless input 0 has the shape of the gradient of a loss whose terms have that shape.
void require_loss_grad(const ir::InferContext& c, Reduction reduction, const Shape& terms);

// Throws Error if a gradient by that input is wanted.
void refuse_gradient(const ir::VjpContext& c, int input, const OpDef& op);

// Workspace of reduce_terms (loss-inl.h) in bytes; params hold loss_dims.
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
//   where it is not symmetric: target_grad_name, target_grad_ref, target_grad_ref64, the same by t
//   Names and kernels come from LOSS_KERNELS(op) and LOSS_TARGET_GRAD(op), the rest, where it is as
//   usual, from PlainLoss.
template <class T>
struct ElementLoss {
  using Options = typename T::Options;

  static const OpDef& op() {
    static const OpDef def{
        .name = T::name,
        .signature{
            .doc = T::doc,
            .example = T::example,
            .inputs = {{T::x, "any shape"}, {T::t, "the same shape"}},
            .outputs = {{"loss", "one number, or the terms"}},
            .attrs = ir::Attrs::schema_of<Options>(),
        },
        .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          const auto& options = c.attrs.as<Options>();
          require_pair(c, 0);
          require_reducible(c, options.reduction, c.shape(0));
          T::check(c, options);
          return {{DType::f32, loss_shape(options.reduction, c.shape(0))}};
        },
        .gradient{.vjp = vjp},
        .kernels{
            .params = [](const ir::KernelContext& c) { return params(c, c.in(0)); },
            .workspace = T::fast == nullptr ? nullptr : loss_workspace,
            .ref = T::ref,
            .ref64 = T::ref64,
            .fast = T::fast,
            .stay_f32 = {0},
        },
        .flow{.samples =
                  [](const ir::SamplesContext& c) {
                    return samples_of(c.attrs.as<Options>().reduction);
                  }},
    };
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def = grad_op({
        .name = T::grad_name,
        .is_gradient = true,
        .kernels{
            .ref = T::grad_ref,
            .ref64 = T::grad_ref64,
            .fast = T::grad_fast,
        },
    });
    return def;
  }

  // The gradient op by t.
  static const OpDef& target_grad() requires(!T::symmetric) {
    static const OpDef def = grad_op({
        .name = T::target_grad_name,
        .is_gradient = true,
        .kernels{
            .ref = T::target_grad_ref,
            .ref64 = T::target_grad_ref64,
        },
    });
    return def;
  }

  static Value apply(Value x, Value t, const Options& options) {
    return x.graph().add1(op(), ir::Attrs::of(options), {x, t});
  }

  // The ops of the folder, returned by op_folder_...
  static std::span<const OpDef* const> folder() {
    if constexpr (T::symmetric) {
      static const OpDef* const defs[] = {&op(), &grad()};
      return defs;
    } else {
      static const OpDef* const defs[] = {&op(), &grad(), &target_grad()};
      return defs;
    }
  }

 private:
  // Completes the definition of a gradient op.
  static OpDef grad_op(OpDef def) {
    def.signature.doc = "The gradient of the loss it is named after by one of its inputs.";
    def.signature.inputs = {
        {"dy", "the shape of the loss"}, {T::x, "any shape"}, {T::t, "the same shape"}};
    def.signature.outputs = {{"dx", "the same shape"}};
    def.signature.attrs = ir::Attrs::schema_of<Options>();
    def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
      require_pair(c, 1);
      require_loss_grad(c, c.attrs.as<Options>().reduction, c.shape(1));
      return {c.input(1)};
    };
    def.kernels.params = [](const ir::KernelContext& c) { return params(c, c.in(1)); };
    def.memory.in_place = {{0, 1}, {0, 2}};
    return def;
  }
  static void require_pair(const ir::InferContext& c, int first) {
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
    if (!c.need(1)) return grads;
    if constexpr (T::symmetric) {
      grads[1] = graph.add1(grad(), c.attrs, {c.grad(), t, x});
    } else {
      grads[1] = graph.add1(target_grad(), c.attrs, {c.grad(), x, t});
    }
    return grads;
  }
};

// Default members for most of these losses.
struct PlainLoss {
  static constexpr const char* x = "prediction";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = true;
  using Options = LossOptions;
  static double a(const Options&) { return 0.0; }
  template <class Any>
  static void check(const ir::InferContext&, const Any&) {}
};

}  // namespace ops
}  // namespace thimble

// The fast kernels of <op>/simd.cpp; as in ref.h, to rounding. workspace: loss_workspace() bytes.
// dx may alias x or t.
#define LOSS_SIMD_DECLARE(op)                                                                     \
  namespace thimble::ops::op##_impl {                                                             \
    void op##_simd(float* y, const float* x, const float* t, void* workspace, const loss_dims* d, \
                   parallel::ThreadPool& pool);                                                   \
    void op##_grad_simd(float* dx, const float* dy, const float* x, const float* t,               \
                        const loss_dims* d, parallel::ThreadPool& pool);                          \
  }

#define LOSS_KERNELS(op)                                                           \
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::op##_ref>();             \
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::op##_ref>();           \
  static constexpr ir::KernelFn fast = ir::kernel_fn<&op##_simd>();                \
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::op##_grad_ref>();   \
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::op##_grad_ref>(); \
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&op##_grad_simd>();      \
  static constexpr const char* name = #op;                                         \
  static constexpr const char* grad_name = #op "_grad"

#define LOSS_TARGET_GRAD(op)                                                                   \
  static constexpr const char* target_grad_name = #op "_target_grad";                          \
  static constexpr ir::KernelFn target_grad_ref = ir::kernel_fn<&f32::op##_target_grad_ref>(); \
  static constexpr ir::KernelFn target_grad_ref64 = ir::kernel_fn<&f64::op##_target_grad_ref>()
