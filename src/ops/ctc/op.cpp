#include <thimble/ops/ctc.h>

#include <fmt/format.h>

#include "ir/function_def.h"
#include "ir/op_def.h"
#include "ops/ctc/dims.h"
#include "ops/families/loss/loss.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP ctc
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::ctc_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. params hold ctc_dims.
int64_t ctc_workspace(const ir::Params& params, int threads);

void ctc_simd(float* y, float* alpha, const float* x, const int32_t* targets,
              const int32_t* input_lengths, const int32_t* target_lengths, void* workspace,
              const ctc_dims* d, parallel::ThreadPool& pool);
void ctc_grad_simd(float* dx, float* beta, const float* dy, const float* x, const float* alpha,
                   const int32_t* targets, const int32_t* input_lengths,
                   const int32_t* target_lengths, void* workspace, const ctc_dims* d,
                   parallel::ThreadPool& pool);

namespace {

// The shape of alpha. first: the input with the logits; targets and lengths start at input
// `targets`.
Shape checked_alpha(const ir::InferContext& c, int logits, int targets) {
  c.require_rank(logits, 3);
  c.require_rank(targets, 2);
  const Shape& x = c.shape(logits);
  const int64_t blank = c.attrs.as<CtcOptions>().blank;
  c.require(x[2] >= 1, "expected at least one class");
  c.require(blank >= 0 && blank < x[2], "expected a blank among the classes");
  c.require(c.shape(targets)[0] == x[0], "expected one target a sequence: [N, S]");
  for (int i = targets + 1; i <= targets + 2; ++i) {
    if (!c.has(i)) continue;
    c.require(
        c.shape(i) == Shape{x[0]},
        fmt::format("expected {} of shape [{}]", c.op.signature.inputs[static_cast<size_t>(i)].name,
                    to_string(Shape{x[0]})));
  }
  return {x[0], x[1], 2 * c.shape(targets)[1] + 1};
}

ir::Params params_of(const ir::KernelContext& c, int logits, int targets) {
  const auto& options = c.attrs.as<CtcOptions>();
  const Shape& x = c.in(logits);
  ctc_dims d{};
  d.n = static_cast<int>(x[0]);
  d.steps = static_cast<int>(x[1]);
  d.classes = static_cast<int>(x[2]);
  d.labels = static_cast<int>(c.in(targets)[1]);
  d.states = 2 * d.labels + 1;
  d.blank = static_cast<int>(options.blank);
  d.zero_infinity = options.zero_infinity ? 1 : 0;
  d.by_length = options.reduction == Reduction::mean ? 1 : 0;
  d.divisor = options.reduction == Reduction::mean ? d.n : loss_divisor(options.reduction, x, d.n);
  return d;
}

const OpDef& ctc_grad_op() {
  static const OpDef def{
      .name = "ctc_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of ctc by its logits: softmax(x) - the probability of each class at "
                 "each step given the target, times the loss's share.",
          .inputs =
              {{"dy", "the shape of the loss"},
               {"logits", "[N, T, classes]"},
               {"alpha", "[N, T, 2 S + 1], of ctc"},
               {.name = "targets", .doc = "[N, S]", .types = DType::i32},
               {.name = "input_lengths", .doc = "[N]", .optional = true, .types = DType::i32},
               {.name = "target_lengths", .doc = "[N]", .optional = true, .types = DType::i32}},
          .outputs = {{"dx", "[N, T, classes]"}, {"beta", "[N, 2 S + 1], scratch"}},
          .attrs = ir::Attrs::schema_of<CtcOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const Shape alpha = checked_alpha(c, 1, 3);
        require_loss_grad(c, c.attrs.as<CtcOptions>().reduction, {alpha[0]});
        c.require(c.input(2) == ir::TensorType{DType::f32, alpha}, "expected the alpha of ctc");
        return {c.input(1), {DType::f32, {alpha[0], alpha[2]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 1, 3); },
          .workspace = ctc_workspace,
          .ref = ir::kernel_fn<&f32::ctc_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::ctc_grad_ref>(),
          .fast = ir::kernel_fn<&ctc_grad_simd>(),
      },
  };
  return def;
}

const OpDef& ctc_op() {
  static const OpDef def{
      .name = "ctc",
      .signature{
          .doc = "Connectionist temporal classification: minus the log probability, under the "
                 "softmax of the logits, of all ways to write the target, blanks and repeats taken "
                 "out. The mean is of each loss divided by its target's length.",
          .example = "auto loss = ctc(logits, targets, input_lengths, target_lengths);",
          .inputs = {{.name = "logits", .doc = "[N, T, classes]", .batch_rank = 3},
                     {.name = "targets",
                      .doc = "[N, S]: classes without the blank",
                      .batch_rank = 2,
                      .types = DType::i32},
                     {.name = "input_lengths",
                      .doc = "[N]; none: T",
                      .optional = true,
                      .batch_rank = 1,
                      .types = DType::i32},
                     {.name = "target_lengths",
                      .doc = "[N]; none: S",
                      .optional = true,
                      .batch_rank = 1,
                      .types = DType::i32}},
          .outputs = {{"loss", "one number, or one a sequence"},
                      {.name = "alpha",
                       .doc = "[N, T, 2 S + 1]: log probabilities of the states, for the gradient",
                       .batch_rank = 3}},
          .attrs = ir::Attrs::schema_of<CtcOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const Shape alpha = checked_alpha(c, 0, 1);
        return {{DType::f32, loss_shape(c.attrs.as<CtcOptions>().reduction, {alpha[0]})},
                {DType::f32, alpha}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        const Value inputs[] = {c.grad(),   c.input(0), c.output(1),
                                c.input(1), c.input(2), c.input(3)};
        return {c.grad().graph().add(ctc_grad_op(), c.attrs, inputs)[0]};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c, 0, 1); },
          .workspace = ctc_workspace,
          .ref = ir::kernel_fn<&f32::ctc_ref>(),
          .ref64 = ir::kernel_fn<&f64::ctc_ref>(),
          .fast = ir::kernel_fn<&ctc_simd>(),
          .stay_f32 = {0, 1},
      },
      .flow{
          .samples =
              [](const ir::SamplesContext& c) {
                return samples_of(c.attrs.as<CtcOptions>().reduction);
              },
          // Entries beyond a target's length may be -1, which is no class; they are ignored.
          .indices = [](const ir::KernelContext& c) -> ir::IndexInput {
            const bool any_length = c.inputs.size() > 3 && c.inputs[3] != nullptr;
            return {.input = 1,
                    .size = c.in(0)[-1],
                    .ignored = any_length ? std::optional<int64_t>(-1) : std::nullopt};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::ctc_impl

THIMBLE_OP_FOLDER(ctc) {
  static const OpDef* const defs[] = {&ctc_op(), &ctc_grad_op()};
  return defs;
}

namespace thimble {

void describe(CtcOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the losses of the batch become one number");
  v.field("blank", a.blank, "the class of the blank, which is no symbol");
  v.field("zero_infinity", a.zero_infinity,
          "targets too long for their sequence count 0, with no gradient");
}
Value ctc(Value logits, Value targets, Value input_lengths, Value target_lengths,
          const CtcOptions& options) {
  const Value inputs[] = {logits, targets, input_lengths, target_lengths};
  return logits.graph().add(ops::ctc_impl::ctc_op(), ir::Attrs::of(options), inputs)[0];
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(ctc) {
  static const FunctionDef ctc_function{
      .name = "ctc",
      .doc =
          "Connectionist temporal classification: minus the log probability, under the softmax of "
          "the logits, of all ways to write the target, blanks and repeats taken out. The mean is "
          "of "
          "each loss divided by its target's length.",
      .inputs =
          {{.name = "logits", .doc = "[N, T, classes]", .batch_rank = 3},
           {.name = "targets", .doc = "[N, S], i32: classes without the blank", .batch_rank = 2},
           {.name = "input_lengths", .doc = "[N], i32; none: T", .optional = true, .batch_rank = 1},
           {.name = "target_lengths",
            .doc = "[N], i32; none: S",
            .optional = true,
            .batch_rank = 1}},
      .outputs = {{"loss", "one number, or one a sequence"}},
      .options = ir::OptionSchema::of<CtcOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {ctc(in[0], in[1], in[2], in[3], options_as<CtcOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&ctc_function};
  return defs;
}
