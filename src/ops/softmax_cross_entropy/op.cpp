#include <thimble/ops/softmax_cross_entropy.h>

#include "ir/op_def.h"
#include "ops/families/loss/classes.h"
#include "ops/families/loss/loss.h"
#include "ops/softmax_cross_entropy/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP softmax_cross_entropy
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::softmax_cross_entropy_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. params hold cross_entropy_dims.
int64_t softmax_cross_entropy_workspace(const ir::Params& params, int threads);

void softmax_cross_entropy_simd(float* y, const float* x, const void* labels, const float* weight,
                                void* workspace, const cross_entropy_dims* d,
                                parallel::ThreadPool& pool);

// dx may be x.
void softmax_cross_entropy_grad_simd(float* dx, const float* dy, const float* x, const void* labels,
                                     const float* weight, const cross_entropy_dims* d,
                                     parallel::ThreadPool& pool);

namespace {

ir::Params params_of(const ir::Attrs& attrs, const Shape& x, DType labels) {
  const auto& options = attrs.as<SoftmaxCrossEntropyOptions>();
  const class_dims classes = class_dims_of(x, labels);
  cross_entropy_dims d{};
  d.rows = classes.rows;
  d.classes = classes.classes;
  d.sparse = classes.sparse;
  d.weighted = d.sparse != 0 && options.reduction == Reduction::mean ? 1 : 0;
  d.divisor = loss_divisor(options.reduction, x, d.rows);
  d.ignore = static_cast<int>(options.ignore_index);
  d.normalized = options.log_probabilities ? 1 : 0;
  d.smoothing = options.label_smoothing;
  return d;
}

ir::Params params_of(const ir::KernelContext& c, int logits) {
  return params_of(c.attrs, c.in(logits), c.inputs[static_cast<size_t>(logits) + 1]->dtype);
}

// Checks logits, and the labels and optional class weights after them.
void check(const ir::InferContext& c, int logits) {
  const auto& options = c.attrs.as<SoftmaxCrossEntropyOptions>();
  require_classes(c, logits, logits + 1);
  if (c.has(logits + 2)) {
    const Shape classes{c.shape(logits)[-1]};
    c.require(c.shape(logits + 2) == classes,
              "expected one weight a class: shape " + to_string(classes));
  }
  c.require(options.label_smoothing >= 0.0 && options.label_smoothing <= 1.0,
            "expected label_smoothing of 0 to 1");
  c.require(options.ignore_index == static_cast<int32_t>(options.ignore_index),
            "expected an ignore_index that i32 holds");
  c.require(c.input(logits + 1).dtype == DType::i32 ||
                options.ignore_index == SoftmaxCrossEntropyOptions().ignore_index,
            "ignore_index is of class indices, but the labels are probabilities; leave it out, or "
            "weigh rows with Reduction::none");
}

// A mean over class indices excludes ignored ones and divides by the sum of weights.
ir::Samples samples(const ir::SamplesContext& c) {
  const Reduction reduction = c.attrs.as<SoftmaxCrossEntropyOptions>().reduction;
  if (c.in(0).rank() < 2) return ir::Samples::mixed;
  if (reduction != Reduction::mean || c.inputs[1]->dtype != DType::i32) {
    return samples_of(reduction);
  }
  return c.has(2) ? ir::Samples::mixed : ir::Samples::labelled_mean;
}

const OpDef& softmax_cross_entropy_grad_op() {
  static const OpDef def{
      .name = "softmax_cross_entropy_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of softmax_cross_entropy by its logits.",
          .inputs = {{"dy", "the shape of the loss"},
                     {"logits", "[N, ..., classes]"},
                     {.name = "labels",
                      .doc = "[N, ...]: class indices, i32; or [N, ..., classes]: probabilities",
                      .types = ir::kFloatingTypes | DType::i32},
                     {"weight", "[classes]", true}},
          .outputs = {{"dx", "[N, ..., classes]"}},
          .attrs = ir::Attrs::schema_of<SoftmaxCrossEntropyOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1);
        require_loss_grad(c, c.attrs.as<SoftmaxCrossEntropyOptions>().reduction,
                          rows_of(c.shape(1)));
        return {c.input(1)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 1); },
          .ref = ir::kernel_fn<&f32::softmax_cross_entropy_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_cross_entropy_grad_ref>(),
          .fast = ir::kernel_fn<&softmax_cross_entropy_grad_simd>(),
      },
      .memory{.in_place = {{0, 1}}},
  };
  return def;
}

const OpDef& softmax_cross_entropy_target_grad_op() {
  static const OpDef def{
      .name = "softmax_cross_entropy_target_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of softmax_cross_entropy by labels that are probabilities.",
          .inputs = {{"dy", "the shape of the loss"},
                     {"logits", "[N, ..., classes]"},
                     {"weight", "[classes]", true}},
          .outputs = {{"dt", "[N, ..., classes]"}},
          .attrs = ir::Attrs::schema_of<SoftmaxCrossEntropyOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_loss_grad(c, c.attrs.as<SoftmaxCrossEntropyOptions>().reduction,
                          rows_of(c.shape(1)));
        return {c.input(1)};
      },
      .kernels{
          .params =
              [](const ir::KernelContext& c) { return params_of(c.attrs, c.in(1), DType::f32); },
          .ref = ir::kernel_fn<&f32::softmax_cross_entropy_target_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_cross_entropy_target_grad_ref>(),
      },
      .memory{.in_place = {{0, 1}}},
  };
  return def;
}

const OpDef& softmax_cross_entropy_op() {
  static const OpDef def{
      .name = "softmax_cross_entropy",
      .signature{
          .doc = "Cross-entropy between labels and the softmax of logits over the last axis: "
                 "reduce over rows of -sum of weight t log softmax(x). Labels are class indices or "
                 "probabilities, smoothed to t = (1 - label_smoothing) label + label_smoothing / "
                 "classes.",
          .example = "auto loss = softmax_cross_entropy(logits, g.label(\"digit\"));",
          .inputs = {{"logits", "[N, ..., classes]"},
                     {.name = "labels",
                      .doc = "[N, ...]: class indices, i32; or [N, ..., classes]: probabilities",
                      .types = ir::kFloatingTypes | DType::i32},
                     {"weight", "[classes]", true}},
          .outputs = {{"loss", "one number, or one a row"}},
          .attrs = ir::Attrs::schema_of<SoftmaxCrossEntropyOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0);
        const Reduction reduction = c.attrs.as<SoftmaxCrossEntropyOptions>().reduction;
        return {{DType::f32, loss_shape(reduction, rows_of(c.shape(0)))}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        refuse_gradient(c, 2, softmax_cross_entropy_op());
        ir::Graph& graph = c.grad().graph();
        std::vector<Value> grads(2);
        if (c.need(0)) {
          grads[0] = graph.add1(softmax_cross_entropy_grad_op(), c.attrs,
                                {c.grad(), c.input(0), c.input(1), c.input(2)});
        }
        if (c.need(1) && c.input(1).dtype() == DType::f32) {
          grads[1] = graph.add1(softmax_cross_entropy_target_grad_op(), c.attrs,
                                {c.grad(), c.input(0), c.input(2)});
        }
        return grads;
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 0); },
          .workspace = softmax_cross_entropy_workspace,
          .ref = ir::kernel_fn<&f32::softmax_cross_entropy_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_cross_entropy_ref>(),
          .fast = ir::kernel_fn<&softmax_cross_entropy_simd>(),
          .stay_f32 = {0},
      },
      .flow{
          .samples = samples,
          .indices = [](const ir::KernelContext& c) -> ir::IndexInput {
            if (c.inputs[1]->dtype != DType::i32) return {};
            const int64_t ignored = c.attrs.as<SoftmaxCrossEntropyOptions>().ignore_index;
            return {.input = 1, .size = c.in(0)[-1], .ignored = ignored};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::softmax_cross_entropy_impl

THIMBLE_OP_FOLDER(softmax_cross_entropy) {
  static const OpDef* const defs[] = {&softmax_cross_entropy_op(), &softmax_cross_entropy_grad_op(),
                                      &softmax_cross_entropy_target_grad_op()};
  return defs;
}

namespace thimble {

void describe(SoftmaxCrossEntropyOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("label_smoothing", a.label_smoothing,
          "share of each label that is spread over all classes, 0 to 1");
  v.field("ignore_index", a.ignore_index, "class index of rows that count nothing");
  v.field("log_probabilities", a.log_probabilities,
          "the logits are logarithms of probabilities: no softmax");
}

Value softmax_cross_entropy(Value logits, Value labels, Value weight,
                            const SoftmaxCrossEntropyOptions& options) {
  return logits.graph().add1(ops::softmax_cross_entropy_impl::softmax_cross_entropy_op(),
                             ir::Attrs::of(options), {logits, labels, weight});
}

Value softmax_cross_entropy(Value logits, Value labels, const SoftmaxCrossEntropyOptions& options) {
  return softmax_cross_entropy(logits, labels, Value(), options);
}

}  // namespace thimble
