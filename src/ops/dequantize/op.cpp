#include <thimble/ops/affine.h>
#include <thimble/ops/dequantize.h>
#include <thimble/ops/mul.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/dequantize/dims.h"
#include "ops/families/quantized/quantized.h"

#define THIMBLE_OP dequantize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::dequantize_impl {
namespace {

ir::Params params(const ir::KernelContext& c) {
  const Quantization& q = *c.inputs[0]->quantization;
  const Shape& x = c.in(0);
  dequantize_dims d{1, 1, 1};
  for (int axis = 0; axis < x.rank(); ++axis) {
    const int size = static_cast<int>(x[axis]);
    (q.axis && axis == *q.axis ? d.channels : q.axis && axis < *q.axis ? d.outer : d.inner) *= size;
  }
  std::vector<dequantize_channel> channels;
  for (size_t i = 0; i < q.scales.size(); ++i) {
    channels.push_back({q.scales[i], q.zero_points.empty() ? 0 : q.zero_points[i]});
  }
  return with_channels(d, channels);
}

// By the integers: the scale of each.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const Quantization& q = *c.input(0).quantization();
  if (q.scales.size() == 1) return {c.grad() * static_cast<double>(q.scales[0])};
  std::vector<int64_t> dims(static_cast<size_t>(c.input(0).shape().rank()), 1);
  dims[static_cast<size_t>(*q.axis)] = static_cast<int64_t>(q.scales.size());
  const Value scales = c.grad().graph().own_constant(fmt::format("@scales_of_{}", c.input(0).id()),
                                                     [&] { return Array(q.scales, Shape(dims)); });
  return {c.grad() * scales};
}

const OpDef& dequantize_op() {
  static const OpDef def{
      .name = "dequantize",
      .signature{
          .doc = "The numbers that int8 stand for: y = scale * (x - zero_point).",
          .example = "auto y = dequantize(x);",
          .inputs = {{.name = "x", .doc = "any shape, i8 with a quantization", .types = DType::i8}},
          .outputs = {{"y", "the shape of x, f32"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0).dtype == DType::i8 && c.input(0).quantization != nullptr,
                  "expected x to be i8 with a quantization; cast converts plain integers");
        return {{DType::f32, c.shape(0)}};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::dequantize_ref>(),
          .ref64 = ir::kernel_fn<&f64::dequantize_ref>(),
          .any_type = true,
      },
      .flow{.elementwise = true},
      .quantized{.to_f32 = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::dequantize_impl

THIMBLE_OP_FOLDER(dequantize) {
  static const OpDef* const defs[] = {&dequantize_op()};
  return defs;
}

namespace thimble {

Value dequantize(Value x) { return x.graph().add1(ops::dequantize_impl::dequantize_op(), {}, {x}); }

}  // namespace thimble
