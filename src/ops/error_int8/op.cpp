#include "ir/graph.h"
#include "ops/error_int8/dims.h"
#include "ops/families/quantized/int8_errors.h"
#include "simd/int8_errors.h"

#define THIMBLE_OP error_int8
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::error_int8_impl {
namespace {

ir::Params params(const ir::KernelContext& c) {
  return error_int8_dims{static_cast<int>(c.in(0).elements())};
}

int64_t to_int8_workspace(const ir::Params& p, int /*threads*/) {
  return simd::int8_error_elements_workspace_bytes(p.as<error_int8_dims>().n);
}

void fast_to_int8(int8_t* y, float* scale, const float* x, void* workspace,
                  const error_int8_dims* d, parallel::ThreadPool& pool) {
  *scale = simd::int8_error_of_floats(y, x, d->n, workspace, pool);
}

const OpDef& add_op() {
  static const OpDef def{
      .name = "add_int8_error",
      .signature{
          .doc =
              "dx and the gradient that error_to_int8 stored, summed up: y * scale + dx. It reads "
              "the int8 numbers as they are stored.",
          .inputs = {{.name = "dx", .doc = "any shape, f32", .types = DType::f32},
                     {.name = "y", .doc = "the shape of dx, i8", .types = DType::i8},
                     {.name = "scale", .doc = "one number, f32", .types = DType::f32}},
          .outputs = {{"sum", "the shape of dx, f32"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(1).quantization == nullptr, "expected y to be i8 without a scale");
        c.require(c.shape(1) == c.shape(0), "expected y to have the shape of dx");
        c.require(c.shape(2).rank() == 0, "expected one scale");
        return {{DType::f32, c.shape(0)}};
      },
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::add_int8_error_ref>(),
          .ref64 = ir::kernel_fn<&f64::add_int8_error_ref>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

const OpDef& from_op() {
  static const OpDef def{
      .name = "error_from_int8",
      .signature{
          .doc = "The gradient that error_to_int8 stored, f32 again: y * scale.",
          .inputs = {{.name = "y", .doc = "any shape, i8", .types = DType::i8},
                     {.name = "scale", .doc = "one number, f32", .types = DType::f32}},
          .outputs = {{"x", "the shape of y, f32"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0).quantization == nullptr, "expected y to be i8 without a scale");
        c.require(c.shape(1).rank() == 0, "expected one scale");
        return {{DType::f32, c.shape(0)}};
      },
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::error_from_int8_ref>(),
          .ref64 = ir::kernel_fn<&f64::error_from_int8_ref>(),
          .any_type = true,
      },
  };
  return def;
}

const OpDef& to_int8_op() {
  static const ir::StoredError readers{&from_op(), &add_op()};
  static const OpDef def{
      .name = "error_to_int8",
      .signature{
          .doc = "A gradient in 8 bits a number, with one scale for all of them: scale = largest "
                 "|x| / 127, y = x / scale to the nearest integer, halves to even. How a trainer "
                 "stores gradients of int8 activations, on request.",
          .inputs = {{.name = "x", .doc = "any shape, f32", .types = DType::f32}},
          .outputs = {{"y", "the shape of x, i8"}, {"scale", "one number, f32"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {{DType::i8, c.shape(0)}, {DType::f32, {}}};
      },
      .gradient{.stored_error = &readers},
      .kernels{
          .params = params,
          .workspace = to_int8_workspace,
          .ref = ir::kernel_fn<&f32::error_to_int8_ref>(),
          .ref64 = ir::kernel_fn<&f64::error_to_int8_ref>(),
          .fast = ir::kernel_fn<&fast_to_int8>(),
          .any_type = true,
      },
      // The scale is that of all samples.
      .flow{.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::error_int8_impl

namespace thimble::ops {

const OpDef& int8_error_of() { return error_int8_impl::to_int8_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(error_int8) {
  static const OpDef* const defs[] = {&to_int8_op(), &from_op(), &add_op()};
  return defs;
}
