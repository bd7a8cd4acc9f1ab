#include <thimble/ops/half_storage.h>

#include "ir/element.h"
#include "ir/graph.h"
#include "ops/half_storage/attrs.h"
#include "ops/half_storage/simd.h"

#define THIMBLE_OP half_storage
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::half_storage_impl {
namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

ir::Attrs stored_as(DType dtype) {
  return is_half(dtype) ? ir::Attrs::of(ToHalfAttrs{dtype}) : ir::Attrs();
}

const OpDef& from_half_op();

const OpDef& to_half_op() {
  static const OpDef def{
      .name = "to_half",
      .signature{
          .doc = "x in 16 bits an element, to the nearest number of that type, ties to even: how "
                 "a trainer stores values for the backward part on request.",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the shape of x; f16 or bf16"}},
          .attrs = ir::Attrs::schema_of<ToHalfAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const DType to = c.attrs.as<ToHalfAttrs>().dtype;
        c.require_dtype(0, DType::f32);
        c.require(is_half(to), "expected the type f16 or bf16");
        return {{to, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return half_dims{static_cast<int>(c.out().elements()),
                             c.outputs[0].dtype == DType::bf16 ? 1 : 0};
          },
          .ref = ir::kernel_fn<&f32::to_half_ref>(),
          .ref64 = ir::kernel_fn<&f64::to_half_ref>(),
          .fast = ir::kernel_fn<&to_half_simd>(),
          .any_type = true,
      },
      .memory{.narrow = {.as = stored_as, .load = &from_half_op()}},
  };
  return def;
}

const OpDef& from_half_op() {
  static const OpDef def{
      .name = "from_half",
      .signature{
          .doc = "Numbers of 16 bits converted back to f32, exactly.",
          .inputs = {{"x", "any shape; f16 or bf16"}},
          .outputs = {{"y", "the shape of x"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(is_half(c.input(0).dtype), "expected x of type f16 or bf16");
        return {{DType::f32, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return half_dims{static_cast<int>(c.out().elements()),
                             c.inputs[0]->dtype == DType::bf16 ? 1 : 0};
          },
          .ref = ir::kernel_fn<&f32::from_half_ref>(),
          .ref64 = ir::kernel_fn<&f64::from_half_ref>(),
          .fast = ir::kernel_fn<&from_half_simd>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::half_storage_impl

THIMBLE_OP_FOLDER(half_storage) {
  static const OpDef* const defs[] = {&to_half_op(), &from_half_op()};
  return defs;
}

namespace thimble {

Value to_half(Value x, const ToHalfAttrs& attrs) {
  return x.graph().add1(ops::half_storage_impl::to_half_op(), ir::Attrs::of(attrs), {x});
}

Value from_half(Value x) { return x.graph().add1(ops::half_storage_impl::from_half_op(), {}, {x}); }

}  // namespace thimble
