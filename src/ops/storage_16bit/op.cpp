#include <thimble/ops/storage_16bit.h>

#include "ir/element.h"
#include "ir/graph.h"
#include "ops/storage_16bit/simd.h"

#define THIMBLE_OP storage_16bit
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::storage_16bit_impl {
namespace {

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

ir::Attrs stored_as(DType dtype) {
  return is_half(dtype) ? ir::Attrs::of(To16BitAttrs{dtype}) : ir::Attrs();
}

const OpDef& from_16bit_op();

const OpDef& to_16bit_op() {
  static const OpDef def{
      .name = "to_16bit",
      .signature{
          .doc = "x in 16 bits an element, to the nearest number of that type, ties to even: how "
                 "a trainer stores values for the backward part on request.",
          .inputs = {{.name = "x", .doc = "any shape", .types = DType::f32}},
          .outputs = {{"y", "the shape of x; f16 or bf16"}},
          .attrs = ir::Attrs::schema_of<To16BitAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const DType to = c.attrs.as<To16BitAttrs>().dtype;
        c.require(is_half(to), "expected the type f16 or bf16");
        return {{to, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return bits16_dims{static_cast<int>(c.out().elements()),
                               c.outputs[0].dtype == DType::bf16 ? 1 : 0};
          },
          .ref = ir::kernel_fn<&f32::to_16bit_ref>(),
          .ref64 = ir::kernel_fn<&f64::to_16bit_ref>(),
          .fast = ir::kernel_fn<&to_16bit_simd>(),
          .any_type = true,
      },
      .memory{.narrow = {.as = stored_as, .load = &from_16bit_op()}},
  };
  return def;
}

const OpDef& from_16bit_op() {
  static const OpDef def{
      .name = "from_16bit",
      .signature{
          .doc = "Numbers of 16 bits converted back to f32, exactly.",
          .inputs = {{.name = "x", .doc = "any shape", .types = {DType::f16, DType::bf16}}},
          .outputs = {{"y", "the shape of x"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {{DType::f32, c.shape(0)}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return bits16_dims{static_cast<int>(c.out().elements()),
                               c.inputs[0]->dtype == DType::bf16 ? 1 : 0};
          },
          .ref = ir::kernel_fn<&f32::from_16bit_ref>(),
          .ref64 = ir::kernel_fn<&f64::from_16bit_ref>(),
          .fast = ir::kernel_fn<&from_16bit_simd>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::storage_16bit_impl

THIMBLE_OP_FOLDER(storage_16bit) {
  static const OpDef* const defs[] = {&to_16bit_op(), &from_16bit_op()};
  return defs;
}

namespace thimble {

void describe(To16BitAttrs& a, ir::FieldVisitor& v) { v.field("dtype", a.dtype, "f16 or bf16"); }

Value to_16bit(Value x, const To16BitAttrs& attrs) {
  return x.graph().add1(ops::storage_16bit_impl::to_16bit_op(), ir::Attrs::of(attrs), {x});
}

Value from_16bit(Value x) {
  return x.graph().add1(ops::storage_16bit_impl::from_16bit_op(), {}, {x});
}

}  // namespace thimble
