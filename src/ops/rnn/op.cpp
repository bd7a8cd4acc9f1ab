#include <thimble/ops/matmul.h>
#include <thimble/ops/rnn.h>

#include "ops/families/recurrent/recurrent.h"
#include "ops/rnn/simd.h"

#define THIMBLE_OP rnn
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::rnn_impl {
namespace {

const OpDef& rnn_grad_op() {
  static const OpDef def{
      .name = "rnn_scan_grad",
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
