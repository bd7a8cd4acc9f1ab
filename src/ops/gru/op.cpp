#include <thimble/ops/gru.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/recurrent/recurrent.h"
#include "ops/gru/simd.h"

#define THIMBLE_OP gru
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::gru_impl {
namespace {

const OpDef& gru_grad_op() {
  static const OpDef def{
      .name = "gru_scan_grad",
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
