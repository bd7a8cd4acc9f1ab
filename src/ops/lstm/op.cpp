#include <thimble/ops/add.h>
#include <thimble/ops/lstm.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/pad.h>
#include <thimble/ops/reshape.h>

#include "ops/families/recurrent/recurrent.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "ops/families/recurrent/recurrent_options.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP lstm
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::lstm_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void lstm_simd(float* h, float* c, float* gates, const float* x, const float* w, const float* h0,
               const float* c0, void* workspace, const recurrent_dims* d,
               parallel::ThreadPool& pool);
void lstm_grad_simd(float* dx, float* dh0, float* dc0, float* h_before, const float* dh,
                    const float* dc, const float* gates, const float* c, const float* w,
                    const float* c0, const float* h0, void* workspace, const recurrent_dims* d,
                    parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t lstm_workspace_bytes(const recurrent_dims& d);
// The same of bf16 or f16 tensors; the params of a call are those of ir/widened.h.
void lstm_16bit(const ir::KernelCall& call);
void lstm_grad_16bit(const ir::KernelCall& call);
[[nodiscard]] int64_t lstm_16bit_workspace_bytes(const recurrent_dims& d, int threads);

namespace {

const OpDef& lstm_grad_op() {
  static const OpDef def{
      .name = "lstm_scan_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of lstm_scan; that of weight_hh is dx, transposed, times h_before. "
                 "The hidden states are recomputed from gates and cells, so that they need not be "
                 "kept.",
          .inputs = {{"dh", "[N, T, units]", true},
                     {"dc", "[N, T, units]", true},
                     {"gates", "[N, T, 4 units]"},
                     {"c", "[N, T, units]"},
                     {"weight_hh", "[4 units, units]"},
                     {"c0", "[N, units]", true},
                     {"h0", "[N, units]", true}},
          .outputs = {{"dx", "[N, T, 4 units]"},
                      {"dh0", "[N, units]"},
                      {"dc0", "[N, units]"},
                      {"h_before", "[N, T, units], the hidden state before each step"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(2, 3);
        c.require_rank(3, 3);
        const Shape& states = c.shape(3);
        for (const int i : {0, 1}) {
          c.require(!c.has(i) || c.shape(i) == states, "expected dh and dc of the shape of c");
        }
        const ir::TensorType state{DType::f32, {states[0], states[2]}};
        return {c.input(2), state, state, c.input(3)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.in(3));
          },
          .workspace = [](const ir::Params& p,
                          int) { return lstm_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<4>,
          .ref = ir::kernel_fn<&f32::lstm_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::lstm_grad_ref>(),
          .fast = ir::kernel_fn<&lstm_grad_simd>(),
          .fast_16bit = lstm_grad_16bit,
          .inputs_16bit = {2, 3},
          .workspace_16bit =
              [](const ir::Params& p, int threads) {
                return lstm_16bit_workspace_bytes(p.as<recurrent_dims>(), threads);
              },
      },
      .memory{.in_place = {{0, 2}, {3, 3}}},
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  ir::Graph& graph = c.output(0).graph();
  const Value inputs[] = {c.grad(0),  c.grad(1),  c.output(2), c.output(1),
                          c.input(1), c.input(3), c.input(2)};
  const std::vector<Value> grads = graph.add(lstm_grad_op(), c.attrs, inputs);
  Value dw;
  if (c.need(1)) dw = matmul(all_steps(grads[0]), all_steps(grads[3]), {.transpose_a = true});
  return {grads[0], dw, c.need(2) ? grads[1] : Value(), c.need(3) ? grads[2] : Value()};
}

const OpDef& lstm_op() {
  static const OpDef def{
      .name = "lstm_scan",
      .signature{
          .doc = "One layer of LSTM in one direction: gates = act(x[t] + weight_hh h[t - 1]), in "
                 "the order input, forget, cell, output; c[t] = forget c[t - 1] + input cell; h[t] "
                 "= output tanh(c[t]). No gradient flows through the gates as an output.",
          .inputs = {{"x", "[N, T, 4 units], times the weights already"},
                     {"weight_hh", "[4 units, units]"},
                     {"h0", "[N, units]", true},
                     {"c0", "[N, units]", true}},
          .outputs = {{"h", "[N, T, units]"}, {"c", "[N, T, units]"}, {"gates", "[N, T, 4 units]"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const ir::TensorType states{DType::f32, check_scan(c, 4)};
        return {states, states, c.input(0)};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.out());
          },
          .workspace = [](const ir::Params& p,
                          int) { return lstm_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<4>,
          .ref = ir::kernel_fn<&f32::lstm_ref>(),
          .ref64 = ir::kernel_fn<&f64::lstm_ref>(),
          .fast = ir::kernel_fn<&lstm_simd>(),
          .fast_16bit = lstm_16bit,
          .inputs_16bit = {0},
          .workspace_16bit =
              [](const ir::Params& p, int threads) {
                return lstm_16bit_workspace_bytes(p.as<recurrent_dims>(), threads);
              },
      },
      .memory{.in_place = {{2, 0}}},
  };
  return def;
}

// [N, width] at the first of `steps` steps, zeros at the others.
Value at_first_step(Value x, int64_t steps, bool reverse) {
  const int64_t others = steps - 1;
  return pad(reshape(x, {-1, 1, x.shape()[1]}),
             {.before = {0, reverse ? others : 0, 0}, .after = {0, reverse ? 0 : others, 0}});
}

Scanned scan(Value x, const RecurrentWeights& weights, Value h0, Value c0, const ScanAttrs& attrs) {
  Value gates = project(x, weights, true);
  Value hh = weights.hh;
  if (weights.hr) {
    // weight_hh (weight_hr h) is (weight_hh weight_hr) h for all steps except the first, whose
    // hidden state is given after projection.
    hh = matmul(weights.hh, weights.hr);
    if (h0)
      gates = add(gates, at_first_step(matmul(h0, weights.hh, {.transpose_b = true}), x.shape()[1],
                                       attrs.reverse));
    h0 = Value();
  }
  const Value inputs[] = {gates, hh, h0, c0};
  const std::vector<Value> outputs = x.graph().add(lstm_op(), ir::Attrs::of(attrs), inputs);
  const Value h = outputs[0];
  return {weights.hr ? matmul(h, weights.hr, {.transpose_b = true}) : h, outputs[1]};
}

}  // namespace
}  // namespace thimble::ops::lstm_impl

THIMBLE_OP_FOLDER(lstm) {
  static const OpDef* const defs[] = {&lstm_op(), &lstm_grad_op()};
  return defs;
}

namespace thimble::ops::lstm_impl {
namespace {

LstmState next_state(const Scanned& next, Value h, Value c, const LstmCellOptions& options) {
  check_share("lstm_cell", "zoneout_h", options.zoneout_h);
  check_share("lstm_cell", "zoneout_c", options.zoneout_c);
  return {zoned_out(h, next.h, options.zoneout_h), zoned_out(c, next.c, options.zoneout_c)};
}

}  // namespace
}  // namespace thimble::ops::lstm_impl

namespace thimble {

void describe(LstmOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("projection", o.projection, "width that the hidden state is projected to; 0: none");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(LstmCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("zoneout_h", o.zoneout_h, "share of the hidden state that stays as it was, in training");
  v.field("zoneout_c", o.zoneout_c, "share of the cell that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

LstmResult lstm(Value x, Value h0, Value c0, Value lengths, const LstmOptions& options) {
  ops::RecurrentOptions common = ops::recurrent_options(options);
  common.projection = options.projection;
  const auto result =
      ops::recurrent_layers({"lstm", 4, ops::lstm_impl::scan}, x, h0, c0, lengths, common);
  return {result.y, result.h, result.c};
}

LstmResult lstm(Value x, Value h0, Value c0, const LstmOptions& options) {
  return lstm(x, h0, c0, Value(), options);
}

LstmResult lstm(Value x, Value h0, Value c0, const std::vector<RecurrentWeights>& weights,
                const LstmOptions& options) {
  const auto result = ops::recurrent_layers({"lstm", 4, ops::lstm_impl::scan}, x, h0, c0, weights,
                                            ops::recurrent_options(options));
  return {result.y, result.h, result.c};
}

LstmResult lstm(Value x, const LstmOptions& options) { return lstm(x, Value(), Value(), options); }

LstmState lstm_cell(Value x, Value h, Value c, const LstmCellOptions& options) {
  const auto next =
      ops::recurrent_cell({"lstm_cell", 4, ops::lstm_impl::scan}, x, h, c,
                          {.units = options.units, .bias = options.bias, .name = options.name});
  return ops::lstm_impl::next_state(next, h, c, options);
}

LstmState lstm_cell(Value x, Value h, Value c, const RecurrentWeights& weights,
                    const LstmCellOptions& options) {
  const auto next = ops::recurrent_cell({"lstm_cell", 4, ops::lstm_impl::scan}, x, h, c, weights,
                                        {.units = options.units, .name = options.name});
  return ops::lstm_impl::next_state(next, h, c, options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(lstm) {
  static const FunctionDef layer{
      .name = "lstm",
      .doc = "Long short-term memory, the gates in the order input, forget, cell, output.",
      .example = "auto [y, h, c] = lstm(x, {.units = 64, .layers = 2});",
      .inputs = {kSequences,
                 {.name = "h0",
                  .doc = "[N, layers * directions, units or projection]; none: zeros",
                  .optional = true,
                  .batch_rank = 3},
                 {.name = "c0",
                  .doc = "[N, layers * directions, units]; none: zeros",
                  .optional = true,
                  .batch_rank = 3},
                 kLengths},
      .outputs = {{.name = "y", .doc = "[N, T, directions * units or projection]", .batch_rank = 3},
                  {.name = "h",
                   .doc = "[N, layers * directions, units or projection], after the last step",
                   .batch_rank = 3},
                  {.name = "c",
                   .doc = "[N, layers * directions, units]: the cells",
                   .batch_rank = 3}},
      .parameters = {{"weight_ih_l0", "[4 units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[4 units, units or projection]"},
                     {"bias_ih_l0", "[4 units]", true},
                     {"bias_hh_l0", "[4 units]", true},
                     {"weight_hr_l0", "[projection, units]", true}},
      .options = ir::OptionSchema::of<LstmOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const LstmResult r = lstm(in[0], in[1], in[2], in[3], options_as<LstmOptions>(options));
        return {r.y, r.h, r.c};
      },
  };
  static const FunctionDef cell{
      .name = "lstm_cell",
      .doc = "One step of lstm.",
      .example = "auto [h2, c2] = lstm_cell(x, h, c, {.units = 64});",
      .inputs = {{"x", "[N, features]"},
                 {"h", "[N, units]; none: zeros", true},
                 {"c", "[N, units]; none: zeros", true},
                 {"weight_ih", "[4 units, features]; none: a layer's own", true},
                 {"weight_hh", "[4 units, units], beside weight_ih", true},
                 {"bias_ih", "[4 units]", true},
                 {"bias_hh", "[4 units]", true}},
      .outputs = {{"h", "[N, units]"}, {"c", "[N, units]"}},
      .parameters = {{"weight_ih", "[4 units, features]"},
                     {"weight_hh", "[4 units, units]"},
                     {"bias_ih", "[4 units]", true},
                     {"bias_hh", "[4 units]", true}},
      .options = ir::OptionSchema::of<LstmCellOptions>(),
      .required = {"units"},
      .of_parameters = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& cell = options_as<LstmCellOptions>(options);
        const LstmState s = in[3]
                                ? lstm_cell(in[0], in[1], in[2], {in[3], in[4], in[5], in[6]}, cell)
                                : lstm_cell(in[0], in[1], in[2], cell);
        return {s.h, s.c};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
