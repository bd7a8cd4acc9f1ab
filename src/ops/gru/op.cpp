#include <thimble/ops/gru.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/recurrent/recurrent.h"
#include "ops/families/recurrent/recurrent_dims.h"
#include "ops/families/recurrent/recurrent_options.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP gru
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::gru_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void gru_simd(float* h, float* gates, float* inner, const float* x, const float* w, const float* b,
              const float* h0, void* workspace, const recurrent_dims* d,
              parallel::ThreadPool& pool);
void gru_grad_simd(float* dx, float* du, float* dh0, const float* dh, const float* h,
                   const float* gates, const float* inner, const float* w, const float* h0,
                   void* workspace, const recurrent_dims* d, parallel::ThreadPool& pool);
// Bytes of workspace of either kernel.
[[nodiscard]] int64_t gru_workspace_bytes(const recurrent_dims& d);

namespace {

const OpDef& gru_grad_op() {
  static const OpDef def{
      .name = "gru_scan_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of gru_scan, du of weight_hh h + bias_hh; those of weight_hh and "
                 "bias_hh follow from it.",
          .inputs = {{"dh", "[N, T, units]"},
                     {"h", "[N, T, units]"},
                     {"gates", "[N, T, 3 units]"},
                     {"inner", "[N, T, units]"},
                     {"weight_hh", "[3 units, units]"},
                     {"h0", "[N, units]", true}},
          .outputs = {{"dx", "[N, T, 3 units]"}, {"du", "[N, T, 3 units]"}, {"dh0", "[N, units]"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 3);
        c.require(c.shape(1) == c.shape(0), "expected dh and h of one shape");
        return {c.input(2), c.input(2), {DType::f32, {c.shape(0)[0], c.shape(0)[2]}}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.in(0));
          },
          .workspace = [](const ir::Params& p,
                          int) { return gru_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<3>,
          .ref = ir::kernel_fn<&f32::gru_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::gru_grad_ref>(),
          .fast = ir::kernel_fn<&gru_grad_simd>(),
      },
      .memory{.in_place = {{0, 2}}},
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  ir::Graph& graph = c.grad().graph();
  const Value h0 = c.input(3);
  const Value inputs[] = {c.grad(), c.output(0), c.output(1), c.output(2), c.input(1), h0};
  const std::vector<Value> grads = graph.add(gru_grad_op(), c.attrs, inputs);
  std::vector<Value> results{grads[0], {}, {}, c.need(3) ? grads[2] : Value()};
  if (c.need(1)) {
    const Value before = states_before(c.output(0), h0, c.attrs.as<ScanAttrs>().reverse);
    results[1] = matmul(all_steps(grads[1]), all_steps(before), {.transpose_a = true});
  }
  if (c.need(2)) results[2] = sum_to(grads[1], c.input(2).shape());
  return results;
}

const OpDef& gru_op() {
  static const OpDef def{
      .name = "gru_scan",
      .signature{
          .doc = "One layer of GRU in one direction. With u = weight_hh h[t - 1] + bias_hh: reset "
                 "= sigmoid(x_r + u_r), update = sigmoid(x_z + u_z), new = tanh(x_n + reset u_n), "
                 "h[t] = (1 - update) new + update h[t - 1]. No gradient flows through gates and "
                 "inner = u_n as outputs.",
          .inputs = {{"x", "[N, T, 3 units], times the weights already"},
                     {"weight_hh", "[3 units, units]"},
                     {"bias_hh", "[3 units]", true},
                     {"h0", "[N, units]", true}},
          .outputs = {{"h", "[N, T, units]"},
                      {"gates", "[N, T, 3 units]"},
                      {"inner", "[N, T, units]"}},
          .attrs = ir::Attrs::schema_of<ScanAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const ir::TensorType states{DType::f32, check_scan(c, 3, 2)};
        c.require(!c.has(2) || c.shape(2) == Shape({c.shape(1)[0]}), "expected a bias [3 * units]");
        return {states, c.input(0), states};
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return scan_sizes(c.attrs.as<ScanAttrs>(), c.out());
          },
          .workspace = [](const ir::Params& p,
                          int) { return gru_workspace_bytes(p.as<recurrent_dims>()); },
          .flops = scan_flops<3>,
          .ref = ir::kernel_fn<&f32::gru_ref>(),
          .ref64 = ir::kernel_fn<&f64::gru_ref>(),
          .fast = ir::kernel_fn<&gru_simd>(),
      },
      .memory{.in_place = {{1, 0}}},
  };
  return def;
}

Scanned scan(Value x, const RecurrentWeights& weights, Value h0, Value /*c0*/,
             const ScanAttrs& attrs) {
  const Value inputs[] = {project(x, weights, false), weights.hh, weights.bias_hh, h0};
  return {x.graph().add(gru_op(), ir::Attrs::of(attrs), inputs)[0], {}};
}

}  // namespace
}  // namespace thimble::ops::gru_impl

THIMBLE_OP_FOLDER(gru) {
  static const OpDef* const defs[] = {&gru_op(), &gru_grad_op()};
  return defs;
}

namespace thimble {

void describe(GruOptions& o, ir::OptionVisitor& v) {
  ops::describe_layers(o, v);
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(GruCellOptions& o, ir::OptionVisitor& v) {
  ops::describe_cell(o, v);
  v.field("zoneout", o.zoneout, "share of the state that stays as it was, in training");
  v.field("name", o.name, "of the layer; empty: numbered");
}

RnnResult gru(Value x, Value h0, Value lengths, const GruOptions& options) {
  const auto result = ops::recurrent_layers({"gru", 3, ops::gru_impl::scan}, x, h0, {}, lengths,
                                            ops::recurrent_options(options));
  return {result.y, result.h};
}

RnnResult gru(Value x, Value h0, const GruOptions& options) { return gru(x, h0, Value(), options); }

RnnResult gru(Value x, Value h0, const std::vector<RecurrentWeights>& weights,
              const GruOptions& options) {
  const auto result = ops::recurrent_layers({"gru", 3, ops::gru_impl::scan}, x, h0, {}, weights,
                                            ops::recurrent_options(options));
  return {result.y, result.h};
}

RnnResult gru(Value x, const GruOptions& options) { return gru(x, Value(), options); }

Value gru_cell(Value x, Value h, const GruCellOptions& options) {
  ops::check_share("gru_cell", "zoneout", options.zoneout);
  const auto next =
      ops::recurrent_cell({"gru_cell", 3, ops::gru_impl::scan}, x, h, {},
                          {.units = options.units, .bias = options.bias, .name = options.name});
  return ops::zoned_out(h, next.h, options.zoneout);
}

Value gru_cell(Value x, Value h, const RecurrentWeights& weights, const GruCellOptions& options) {
  ops::check_share("gru_cell", "zoneout", options.zoneout);
  const auto next = ops::recurrent_cell({"gru_cell", 3, ops::gru_impl::scan}, x, h, {}, weights,
                                        {.units = options.units, .name = options.name});
  return ops::zoned_out(h, next.h, options.zoneout);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(gru) {
  static const FunctionDef layer{
      .name = "gru",
      .doc = "Gated recurrent unit, the gates in the order reset, update, new.",
      .example = "auto [y, h] = gru(x, {.units = 64});",
      .inputs = {kSequences, kHidden, kLengths},
      .outputs = {kSteps, kLastHidden},
      .parameters = {{"weight_ih_l0", "[3 units, features]; likewise for layers and _reverse"},
                     {"weight_hh_l0", "[3 units, units]"},
                     {"bias_ih_l0", "[3 units]", true},
                     {"bias_hh_l0", "[3 units]", true}},
      .options = ir::OptionSchema::of<GruOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const RnnResult r = gru(in[0], in[1], in[2], options_as<GruOptions>(options));
        return {r.y, r.h};
      },
  };
  static const FunctionDef cell{
      .name = "gru_cell",
      .doc = "One step of gru.",
      .example = "auto next = gru_cell(x, h, {.units = 64});",
      .inputs = {{"x", "[N, features]"}, {"h", "[N, units]; none: zeros", true}},
      .outputs = {{"h", "[N, units]"}},
      .parameters = {{"weight_ih", "[3 units, features]"},
                     {"weight_hh", "[3 units, units]"},
                     {"bias_ih", "[3 units]", true},
                     {"bias_hh", "[3 units]", true}},
      .options = ir::OptionSchema::of<GruCellOptions>(),
      .required = {"units"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {gru_cell(in[0], in[1], options_as<GruCellOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&layer, &cell};
  return defs;
}
