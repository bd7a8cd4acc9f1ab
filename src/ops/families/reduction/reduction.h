// The family of reductions over axes whose derivative uses input and result. An op consists of two
// formulas for one element of the result in plain C (ref.h, see reduction_ref.h) and a
// ReductionInfo.
#pragma once

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/move/scales.h"
#include "ops/families/reduction/axes.h"
#include "ops/families/reduction/reduction_ref.h"

namespace thimble::ops {

struct ReductionInfo {
  const char* name;
  const char* grad_name;
  const char* doc;
  const char* example;
  ir::KernelFn ref, ref64, fast;
  ir::KernelFn grad_ref, grad_ref64, grad_fast;
  // Kernels of further types, which have no gradient; null: none.
  std::vector<ir::TypedKernels> (*typed)() = nullptr;
};

// A fast kernel, which splits the elements of the result among threads.
using ReductionAt = void (*)(float*, const float*, int, const reduction_dims*);
template <ReductionAt at>
void reduction_fast(float* y, const float* x, const reduction_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, d->walk.outputs, d->walk.reduced,
               [&](int64_t o) { at(y, x, static_cast<int>(o), d); });
}
using ReductionGradAt = void (*)(float*, const float*, const float*, const float*, int,
                                 const reduction_dims*);
template <ReductionGradAt at>
void reduction_grad_fast(float* dx, const float* dy, const float* x, const float* y,
                         const reduction_dims* d, parallel::ThreadPool& pool) {
  for_each_row(pool, d->walk.outputs, d->walk.reduced,
               [&](int64_t o) { at(dx, dy, x, y, static_cast<int>(o), d); });
}

// Options: a struct with axes and keepdims; constant: returns the number `a` of the formula.
template <const ReductionInfo& info, class Options, double (*constant)(const Options&)>
struct AxesReduction {
  static const OpDef& op() {
    static const OpDef def{
        .name = info.name,
        .signature{
            .doc = info.doc,
            .example = info.example,
            .inputs = {{"x", "any shape"}},
            .outputs = {{"y", "x without the axes, or with size 1 in their place"}},
            .attrs = ir::Attrs::schema_of<Options>(),
        },
        .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          require_plain_numbers(c);
          const auto& options = c.attrs.as<Options>();
          c.require(constant(options) == constant(options), "expected numbers, got nan");
          const auto chosen = checked_axes(c, options.axes);
          return {{c.input(0).dtype, reduced_shape(c.shape(0), chosen, options.keepdims)}};
        },
        .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
          return {c.grad().graph().add1(grad(), c.attrs, {c.grad(), c.input(0), c.output()})};
        }},
        .kernels{
            .params = [](const ir::KernelContext& c) { return params(c, 0); },
            .ref = info.ref,
            .ref64 = info.ref64,
            .fast = info.fast,
            .typed = info.typed == nullptr ? std::vector<ir::TypedKernels>() : info.typed(),
        },
    };
    return def;
  }

  static const OpDef& grad() {
    static const OpDef def{
        .name = info.grad_name,
        .is_gradient = true,
        .signature{
            .doc = "The gradient of the op it is named after.",
            .inputs = {{"dy", "the shape of y"},
                       {"x", "that op's input"},
                       {"y", "that op's result"}},
            .outputs = {{"dx", "the shape of x"}},
            .attrs = ir::Attrs::schema_of<Options>(),
        },
        .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          c.require(c.input(0) == c.input(2), "expected dy of the type of y");
          return {c.input(1)};
        },
        .kernels{
            .params = [](const ir::KernelContext& c) { return params(c, 1); },
            .ref = info.grad_ref,
            .ref64 = info.grad_ref64,
            .fast = info.grad_fast,
        },
        .memory{.in_place = {{0, 1}}},
    };
    return def;
  }

  static Value apply(Value x, const Options& options) {
    return x.graph().add1(op(), ir::Attrs::of(options), {x});
  }

 private:
  static ir::Params params(const ir::KernelContext& c, int x) {
    const auto& options = c.attrs.as<Options>();
    const Shape& shape = c.in(x);
    return reduction_dims{reduce_dims_of(shape, chosen_axes(shape.rank(), options.axes), 1),
                          constant(options)};
  }
};

}  // namespace thimble::ops

// The kernels from the folder's ref.h as part of a ReductionInfo.
#define REDUCTION_KERNELS(op)                                                       \
  .ref = ir::kernel_fn<&f32::op##_ref>(), .ref64 = ir::kernel_fn<&f64::op##_ref>(), \
  .fast = ir::kernel_fn<&reduction_fast<&f32::op##_at>>(),                          \
  .grad_ref = ir::kernel_fn<&f32::op##_grad_ref>(),                                 \
  .grad_ref64 = ir::kernel_fn<&f64::op##_grad_ref>(),                               \
  .grad_fast = ir::kernel_fn<&reduction_grad_fast<&f32::op##_grad_at>>()
