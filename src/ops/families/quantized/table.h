// Ops of one quantized tensor, y = f(x) element by element, as tables of their 256 results.
//
// An op is a struct T with
// - Attrs: its attributes, see result_of
// - name, doc, example
// - double value(double x): f
// - Value derivative(Value x): that of f at the real numbers x, f32
// - ref, ref64: the kernels
// - inside_name, inside_ref, inside_ref64: the op that computes the bit mask of the gradient
#pragma once

#include <thimble/ops/dequantize.h>
#include <thimble/ops/mul.h>

#include <vector>

#include "ir/graph.h"
#include "ir/op_def.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"
#include "ops/families/quantized/table_dims.h"

namespace thimble::ops {

// The table of f for numbers of the type of x, and n elements. Float: f(scale * (x - zero point)),
// rounded to f32, by the scale of the result, halves to even; fixed point: times the reciprocal of
// that scale, halves away from zero, as in TensorFlow Lite's tables.
[[nodiscard]] quantized_table_dims quantized_table(double (*f)(double), const ir::TensorType& x,
                                                   const QuantizedResult& result, int64_t n);

template <class T>
std::vector<ir::TensorType> infer_quantized_table(const ir::InferContext& c) {
  require_quantized(c, 0);
  return {quantized_type(c, c.shape(0), result_of(c.attrs.as<typename T::Attrs>()))};
}

template <class T>
const OpDef& quantized_table_inside_op();

// By the integers: the derivative times the scale of x by that of the result.
template <class T>
std::vector<Value> quantized_table_vjp(const ir::VjpContext& c) {
  const Value x = c.input(0);
  const double by = static_cast<double>(scale_of(x.graph().type(x.id()))) /
                    static_cast<double>(c.output().quantization()->scales[0]);
  const Value g = straight_through(c, quantized_table_inside_op<T>());
  return {mul(g, T::derivative(dequantize(x))) * by};
}

template <class T>
const OpDef& quantized_table_op() {
  static const OpDef def{
      .name = T::name,
      .signature{
          .doc = T::doc,
          .example = T::example,
          .inputs = {{.name = "x", .doc = "any shape, i8 with one scale", .types = DType::i8}},
          .outputs = {{"y", "the shape of x, i8 with this quantization"}},
          .attrs = ir::Attrs::schema_of<typename T::Attrs>(),
      },
      .infer = infer_quantized_table<T>,
      .gradient{.vjp = quantized_table_vjp<T>},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return quantized_table(T::value, *c.inputs[0],
                                   result_of(c.attrs.as<typename T::Attrs>()), c.out().elements());
          },
          .ref = T::ref,
          .ref64 = T::ref64,
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

template <class T>
const OpDef& quantized_table_inside_op() {
  static const OpDef def =
      inside_op(quantized_table_op<T>(), T::inside_name, infer_inside<infer_quantized_table<T>>,
                T::inside_ref, T::inside_ref64);
  return def;
}

}  // namespace thimble::ops
