#include <thimble/ops/accuracy.h>

#include "ir/graph.h"
#include "ops/families/loss/classes.h"

#define THIMBLE_OP accuracy
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::accuracy_impl {
namespace {

const OpDef& accuracy_op() {
  static const OpDef def{
      .name = "accuracy",
      .signature{
          .doc = "The share of rows whose label is among the k classes of highest score. Labels "
                 "are class indices, or probabilities of which the largest counts.",
          .example = "g.metric(\"accuracy\", accuracy(logits, digit));",
          .inputs = {{"logits", "[N, ..., classes]"},
                     {.name = "labels",
                      .doc = "[N, ...]: class indices, i32; or [N, ..., classes]: probabilities",
                      .types = ir::kFloatingTypes | DType::i32}},
          .outputs = {{"share", "one number from 0 to 1"}},
          .attrs = ir::Attrs::schema_of<AccuracyOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_classes(c, 0, 1);
        const int64_t k = c.attrs.as<AccuracyOptions>().k;
        c.require(k >= 1 && k <= c.shape(0)[-1], "k must lie between 1 and the number of classes");
        return {{DType::f32, {}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            class_dims d = class_dims_of(c.in(0), c.inputs[1]->dtype);
            d.k = static_cast<int>(c.attrs.as<AccuracyOptions>().k);
            return d;
          },
          .ref = ir::kernel_fn<&f32::accuracy_ref>(),
          .ref64 = ir::kernel_fn<&f64::accuracy_ref>(),
          .stay_f32 = {0},
      },
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return c.in(0).rank() > 1 ? ir::Samples::mean : ir::Samples::mixed;
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::accuracy_impl

THIMBLE_OP_FOLDER(accuracy) {
  static const OpDef* const defs[] = {&accuracy_op()};
  return defs;
}

namespace thimble {

void describe(AccuracyOptions& a, ir::FieldVisitor& v) {
  v.field("k", a.k, "the label may be any of the k classes of highest score");
}
Value accuracy(Value logits, Value labels, const AccuracyOptions& options) {
  return logits.graph().add1(ops::accuracy_impl::accuracy_op(), ir::Attrs::of(options),
                             {logits, labels});
}
}  // namespace thimble
