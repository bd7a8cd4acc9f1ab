// Ops of two quantized tensors that broadcast.
//
// An op is a struct T with
// - Attrs: its attributes, see result_of
// - Dims: the sizes of its kernels; they begin with walk, out, a_zero_point and b_zero_point
// - name, doc, example
// - factor(a, b, scale): the last factor of the result; kernels must be able to take it
// - add_factors(d, a, b, attrs): completes the sizes
// - ref, ref64: the kernels; fast: another one, if there is
// - device_work(params): what the kernels do on a microcontroller, if it says
// - inside_name, inside_ref, inside_ref64: the op that computes the bit mask of the gradient
// - Value gradient(c, i, g): the gradient by input i, from g, that of the unrounded result
#pragma once

#include <thimble/attributes.h>
#include <thimble/ops/sum_to.h>

#include <vector>

#include "ir/op_def.h"
#include "ops/families/nary/nary.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"

namespace thimble::ops {

template <class T>
std::vector<ir::TensorType> infer_quantized_pair(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<typename T::Attrs>();
  require_quantized(c, 0);
  require_quantized(c, 1);
  ir::TensorType y = quantized_type(c, broadcast_shape(c, 0, 1), result_of(attrs));
  require_factor(c, T::factor(c.input(0), c.input(1), attrs.scale),
                 "the factor from the scales of a and b to that of the result");
  return {y};
}

template <class T>
ir::Params quantized_pair_params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<typename T::Attrs>();
  const ir::TensorType& a = *c.inputs[0];
  const ir::TensorType& b = *c.inputs[1];
  typename T::Dims d{};
  d.walk = nary_dims_of(c);
  d.out = kernel_result(result_of(attrs));
  d.a_zero_point = zero_point_of(a);
  d.b_zero_point = zero_point_of(b);
  T::add_factors(d, a, b, attrs);
  return d;
}

template <class T>
const OpDef& quantized_pair_inside_op();

template <class T>
std::vector<Value> quantized_pair_vjp(const ir::VjpContext& c) {
  const Value g = straight_through(c, quantized_pair_inside_op<T>());
  std::vector<Value> grads(2);
  for (const int i : {0, 1}) {
    if (c.need(i)) {
      grads[static_cast<size_t>(i)] = sum_to(T::gradient(c, i, g), c.input(i).shape());
    }
  }
  return grads;
}

template <class T>
constexpr ir::KernelFn quantized_pair_fast() {
  if constexpr (requires { T::fast; }) {
    return T::fast;
  } else {
    return nullptr;
  }
}

template <class T>
constexpr auto quantized_pair_device_work() -> ir::DeviceWork (*)(const ir::Params&) {
  if constexpr (requires { &T::device_work; }) {
    return T::device_work;
  } else {
    return nullptr;
  }
}

template <class T>
const OpDef& quantized_pair_op() {
  static const OpDef def{
      .name = T::name,
      .signature{
          .doc = T::doc,
          .example = T::example,
          .inputs = {{.name = "a", .doc = "any shape, i8 with one scale", .types = DType::i8},
                     {.name = "b",
                      .doc = "a shape that broadcasts with a, i8 with one scale",
                      .types = DType::i8}},
          .outputs = {{"y", "the broadcast shape, i8 with one scale"}},
          .attrs = ir::Attrs::schema_of<typename T::Attrs>(),
      },
      .infer = infer_quantized_pair<T>,
      .gradient{.vjp = quantized_pair_vjp<T>},
      .kernels{
          .params = quantized_pair_params<T>,
          .device_work = quantized_pair_device_work<T>(),
          .ref = T::ref,
          .ref64 = T::ref64,
          .fast = quantized_pair_fast<T>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

template <class T>
const OpDef& quantized_pair_inside_op() {
  static const OpDef def =
      inside_op(quantized_pair_op<T>(), T::inside_name, infer_inside<infer_quantized_pair<T>>,
                T::inside_ref, T::inside_ref64);
  return def;
}

}  // namespace thimble::ops
