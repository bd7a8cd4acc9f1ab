#include <thimble/ops/one_hot.h>

#include "ir/graph.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/loss/class_dims.h"

#define THIMBLE_OP one_hot
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::one_hot_impl {
namespace {

const OpDef& one_hot_op() {
  static const OpDef def{
      .name = "one_hot",
      .signature{
          .doc = "Class indices as rows of zeros with a one: y[.., c] = 1 where c = x[..]. An "
                 "index that is no class gives a row of zeros.",
          .example = "auto t = one_hot(label, {.classes = 10});",
          .inputs = {{.name = "x", .doc = "any shape", .types = DType::i32}},
          .outputs = {{"y", "[the shape of x, classes], f32"}},
          .attrs = ir::Attrs::schema_of<OneHotOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const int64_t classes = c.attrs.as<OneHotOptions>().classes;
        c.require(classes >= 1, "expected at least one class");
        c.require(classes < (int64_t{1} << 31), "expected fewer than 2^31 classes");
        std::vector<int64_t> dims = c.shape(0).dims();
        dims.push_back(classes);
        return {{DType::f32, Shape(std::move(dims))}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            class_dims d{};
            d.rows = static_cast<int>(c.in(0).elements());
            d.classes = static_cast<int>(c.attrs.as<OneHotOptions>().classes);
            return d;
          },
          .ref = ir::kernel_fn<&f32::one_hot_ref>(),
          .ref64 = ir::kernel_fn<&f64::one_hot_ref>(),
          .typed = typed_kernels({}, {{DType::i64, ir::kernel_fn<&i64::one_hot_ref>()},
                                      {DType::i16, ir::kernel_fn<&i16::one_hot_ref>()},
                                      {DType::i8, ir::kernel_fn<&i8::one_hot_ref>()},
                                      {DType::u8, ir::kernel_fn<&u8::one_hot_ref>()},
                                      {DType::u32, ir::kernel_fn<&u32::one_hot_ref>()}}),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::one_hot_impl

THIMBLE_OP_FOLDER(one_hot) {
  static const OpDef* const defs[] = {&one_hot_op()};
  return defs;
}

namespace thimble {

void describe(OneHotOptions& a, ir::FieldVisitor& v) {
  v.field("classes", a.classes, "must be set");
}
Value one_hot(Value x, const OneHotOptions& options) {
  return x.graph().add1(ops::one_hot_impl::one_hot_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
