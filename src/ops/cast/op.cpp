#include <thimble/ops/cast.h>

#include "ir/graph.h"
#include "ops/cast/attrs.h"
#include "ops/cast/dims.h"

#define THIMBLE_REF "ops/cast/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

// As the kernels count them, or -1.
int kind_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CAST_REAL;
    case DType::i32:
      return CAST_I32;
    case DType::u32:
      return CAST_U32;
    case DType::i8:
      return CAST_I8;
    case DType::u8:
      return CAST_U8;
    default:
      return -1;
  }
}

const OpDef& cast_op() {
  static const OpDef def{
      .name = "cast",
      .doc =
          "x with elements of another type; numbers lose their fraction and become the nearest "
          "that the type can hold, NaN becomes 0.",
      .example = "auto pixels = cast(bytes, DType::f32);",
      .inputs = {{"x", "any shape; f32, i32, u32, i8 or u8"}},
      .outputs = {{"y", "the shape of x"}},
      .attrs = ir::Attrs::schema_of<CastAttrs>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const DType to = c.attrs.as<CastAttrs>().dtype;
        c.require(kind_of(c.input(0).dtype) >= 0 && kind_of(to) >= 0,
                  "expected types among f32, i32, u32, i8 and u8");
        return {{to, c.shape(0)}};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.input(0).dtype() == DType::f32 ? c.grad() : Value()};
      },
      .params = [](const ir::KernelContext& c) -> ir::Params {
        return cast_dims{static_cast<int>(c.out().elements()), kind_of(c.inputs[0]->dtype),
                         kind_of(c.outputs[0].dtype)};
      },
      .ref = ir::kernel_fn<&f32::cast_ref>(),
      .ref64 = ir::kernel_fn<&f64::cast_ref>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(cast) {
  static const OpDef* const defs[] = {&cast_op()};
  return defs;
}

namespace thimble {
Value cast(Value x, DType dtype) {
  return x.graph().add1(ops::cast_op(), ir::Attrs::of(CastAttrs{dtype}), {x});
}
}  // namespace thimble
