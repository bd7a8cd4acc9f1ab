#include <thimble/ops/dropout.h>

#include <cmath>

#include "ir/function_def.h"
#include "ops/dropout/attrs.h"
#include "ops/families/random/random.h"
#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP dropout
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::dropout_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void dropout_simd(float* y, const uint32_t* rng, const float* x, const random_dims* d,
                  parallel::ThreadPool& pool);

namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& a = c.attrs.as<DropoutAttrs>();
  require_rng(c, a.stream);
  c.require(a.p >= 0.0 && a.p <= 1.0, "p must lie between 0 and 1");
  return {c.input(1)};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& a = c.attrs.as<DropoutAttrs>();
  return random_dims{.n = static_cast<int>(c.out().elements()),
                     .stream = static_cast<uint32_t>(a.stream),
                     .a = a.p < 1.0 ? 1.0 / (1.0 - a.p) : 0.0,
                     .limit = std::round(a.p * 0x1p24)};
}

const OpDef& dropout_op() {
  static const OpDef def{
      .name = "dropout",
      .signature{
          .doc = "In training y = x / (1 - p) with probability 1 - p, else 0; at inference y = x. "
                 "The mask comes from Philox 4x32-10, keyed by seed, step and stream.",
          .example = "auto y = dropout(x, {.p = 0.2});",
          .inputs = {rng_argument(), {"x", "any shape"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<DropoutAttrs>(),
      },
      .infer = infer,
      .gradient{
          // The gradient uses the same mask.
          .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
            return {Value(), c.grad().graph().add1(dropout_op(), c.attrs, {c.input(0), c.grad()})};
          }},
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            if (phase == ir::Phase::training && c.attrs.as<DropoutAttrs>().p > 0.0) return {};
            return {c.input(1)};
          }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::dropout_ref>(),
          .ref64 = ir::kernel_fn<&f64::dropout_ref>(),
          .fast = ir::kernel_fn<&dropout_simd>(),
      },
      .memory{.in_place = {{0, 1}}},
      .flow{.reads_rng = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::dropout_impl

THIMBLE_OP_FOLDER(dropout) {
  static const OpDef* const defs[] = {&dropout_op()};
  return defs;
}

namespace thimble {

void describe(DropoutOptions& o, ir::OptionVisitor& v) {
  v.field("p", o.p, "share of elements that become 0");
}
Value dropout(Value x, const DropoutOptions& options) {
  ir::Graph& graph = x.graph();
  const DropoutAttrs attrs{options.p, ops::new_stream(graph)};
  return graph.add1(ops::dropout_impl::dropout_op(), ir::Attrs::of(attrs), {ops::rng_of(graph), x});
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(dropout) {
  static const FunctionDef dropout_function{
      .name = "dropout",
      .doc =
          "In training each element becomes 0 with probability p and the others are divided by 1 - "
          "p; at "
          "inference y = x. The mask depends on the seed, the step and the place in the graph "
          "alone.",
      .example = "auto y = dropout(x, {.p = 0.2});",
      .inputs = {{"x", "any shape"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<DropoutOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {dropout(in[0], options_as<DropoutOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&dropout_function};
  return defs;
}
