#include <thimble/ops/matmul.h>
#include <thimble/ops/rnn.h>

#include "ops/families/recurrent/recurrent.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "ops/families/recurrent/recurrent_options.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP rnn
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rnn_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void rnn_simd(float* h, const float* x, const float* w, const float* h0, void* workspace,
              const recurrent_dims* d, parallel::ThreadPool& pool);
void rnn_grad_simd(float* dx, float* dh0, const float* dh, const float* h, const float* w,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t rnn_workspace_bytes(const recurrent_dims& d);

namespace {

const OpDef& rnn_grad_op() {
  static const OpDef def{
      .name = "rnn_scan_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of rnn_scan; that of weight_hh follows from dx.",
          .inputs = {{"dh", "[N, T, units]"},
                     {"h", "[N, T, units]"},
                     {"weight_hh", "[units, units]"}},
          .outputs = {{"dx", "[N, T, units]"}, {"dh0", "[N, units]"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 3);
        c.require(c.shape(1) == c.shape(0), "expected dh and h of one shape");
        return {c.input(0), {DType::f32, {c.shape(0)[0], c.shape(0)[2]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.in(0));
          },
          .workspace = [](const ir::Params& p,
                          int) { return rnn_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<1>,
          .ref = ir::kernel_fn<&f32::rnn_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::rnn_grad_ref>(),
          .fast = ir::kernel_fn<&rnn_grad_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  ir::Graph& graph = c.grad().graph();
  const Value inputs[] = {c.grad(), c.output(), c.input(1)};
  const std::vector<Value> grads = graph.add(rnn_grad_op(), c.attrs, inputs);
  Value dw;
  if (c.need(1)) {
    const Value before = states_before(c.output(), c.input(2), c.attrs.as<ScanAttrs>().reverse);
    dw = matmul(all_steps(grads[0]), all_steps(before), {.transpose_a = true});
  }
  return {grads[0], dw, c.need(2) ? grads[1] : Value()};
}

const OpDef& rnn_op() {
  static const OpDef def{
      .name = "rnn_scan",
      .signature{
          .doc =
              "One plain recurrent layer in one direction: h[t] = act(x[t] + weight_hh h[t - 1]).",
          .inputs = {{"x", "[N, T, units], times the weights already"},
                     {"weight_hh", "[units, units]"},
                     {"h0", "[N, units]", true}},
          .outputs = {{"h", "[N, T, units]"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {{DType::f32, check_scan(c, 1)}};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.out());
          },
          .workspace = [](const ir::Params& p,
                          int) { return rnn_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<1>,
          .ref = ir::kernel_fn<&f32::rnn_ref>(),
          .ref64 = ir::kernel_fn<&f64::rnn_ref>(),
          .fast = ir::kernel_fn<&rnn_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

Scanned scan(Value x, const RecurrentWeights& weights, Value h0, Value /*c0*/,
             const ScanAttrs& attrs) {
  const Value inputs[] = {project(x, weights, true), weights.hh, h0};
  return {x.graph().add(rnn_op(), ir::Attrs::of(attrs), inputs)[0], {}};
}

}  // namespace
}  // namespace thimble::ops::rnn_impl

THIMBLE_OP_FOLDER(rnn) {
  static const OpDef* const defs[] = {&rnn_op(), &rnn_grad_op()};
  return defs;
}

namespace thimble {

void describe(RnnOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("relu", o.relu, "in place of tanh");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(RnnCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("relu", o.relu, "in place of tanh");
  v.field("zoneout", o.zoneout, "share of the state that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

RnnResult rnn(Value x, Value h0, Value lengths, const RnnOptions& options) {
  const auto result = ops::recurrent_layers({"rnn", 1, ops::rnn_impl::scan}, x, h0, {}, lengths,
                                            ops::recurrent_options(options, options.relu));
  return {result.y, result.h};
}

RnnResult rnn(Value x, Value h0, const RnnOptions& options) { return rnn(x, h0, Value(), options); }

RnnResult rnn(Value x, Value h0, const std::vector<RecurrentWeights>& weights,
              const RnnOptions& options) {
  const auto result = ops::recurrent_layers({"rnn", 1, ops::rnn_impl::scan}, x, h0, {}, weights,
                                            ops::recurrent_options(options, options.relu));
  return {result.y, result.h};
}

RnnResult rnn(Value x, const RnnOptions& options) { return rnn(x, Value(), options); }

Value rnn_cell(Value x, Value h, const RnnCellOptions& options) {
  const auto next = ops::recurrent_cell(
      {"rnn_cell", 1, ops::rnn_impl::scan}, x, h, {},
      {.units = options.units, .bias = options.bias, .relu = options.relu, .name = options.name});
  return ops::zoned_out(h, next.h, options.zoneout);
}

Value rnn_cell(Value x, Value h, const RecurrentWeights& weights, const RnnCellOptions& options) {
  const auto next =
      ops::recurrent_cell({"rnn_cell", 1, ops::rnn_impl::scan}, x, h, {}, weights,
                          {.units = options.units, .relu = options.relu, .name = options.name});
  return ops::zoned_out(h, next.h, options.zoneout);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(rnn) {
  static const FunctionDef layer{
      .name = "rnn",
      .doc = "A plain recurrent layer: h[t] = act(W_ih x[t] + b_ih + W_hh h[t - 1] + b_hh).",
      .example = "auto [y, h] = rnn(x, {.units = 64});",
      .inputs = {kSequences, kHidden, kLengths},
      .outputs = {kSteps, kLastHidden},
      .parameters = {{"weight_ih_l0", "[units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[units, units]"},
                     {"bias_ih_l0", "[units]", true},
                     {"bias_hh_l0", "[units]", true}},
      .options = ir::OptionSchema::of<RnnOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const RnnResult r = rnn(in[0], in[1], in[2], options_as<RnnOptions>(options));
        return {r.y, r.h};
      },
  };
  static const FunctionDef cell{
      .name = "rnn_cell",
      .doc = "One step of rnn.",
      .example = "auto next = rnn_cell(x, h, {.units = 64});",
      .inputs = {{"x", "[N, features]"}, {"h", "[N, units]; none: zeros", true}},
      .outputs = {{"h", "[N, units]"}},
      .parameters = {{"weight_ih", "[units, features]"},
                     {"weight_hh", "[units, units]"},
                     {"bias_ih", "[units]", true},
                     {"bias_hh", "[units]", true}},
      .options = ir::OptionSchema::of<RnnCellOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {rnn_cell(in[0], in[1], options_as<RnnCellOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
