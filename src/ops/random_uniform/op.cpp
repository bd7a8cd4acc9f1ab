#include <thimble/ops/random_uniform.h>

#include <algorithm>
#include <cmath>

#include "ir/function_def.h"
#include "ops/families/random/random.h"
#include "ops/families/random/random_dims.h"
#include "ops/random_uniform/attrs.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP random_uniform
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::random_uniform_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void random_uniform_simd(float* y, const uint32_t* rng, const random_dims* d,
                         parallel::ThreadPool& pool);

namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& a = c.attrs.as<RandomUniformAttrs>();
  require_rng(c, a.stream);
  c.require(std::isfinite(a.low) && std::isfinite(a.high) && a.low <= a.high,
            "expected finite bounds with low <= high");
  return {{DType::f32, a.shape}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& a = c.attrs.as<RandomUniformAttrs>();
  const float low = static_cast<float>(a.low);
  // Rounding may give `high`, which is excluded.
  const float below = std::nextafter(static_cast<float>(a.high), low);
  return random_dims{.n = static_cast<int>(c.out().elements()),
                     .stream = static_cast<uint32_t>(a.stream),
                     .a = low,
                     .b = static_cast<float>(a.high) - low,
                     .limit = below};
}

const OpDef& random_uniform_op() {
  static const OpDef def{
      .name = "random_uniform",
      .signature{
          .doc = "Random numbers evenly spread over [low, high): y = low + (high - low) u with u "
                 "of 24 bits from Philox 4x32-10, keyed by seed, step and stream.",
          .example = "auto noise = random_uniform(x, {.low = -1, .high = 1});",
          .inputs = {rng_argument()},
          .outputs = {{"y", "the shape in the attributes"}},
          .attrs = ir::Attrs::schema_of<RandomUniformAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::random_uniform_ref>(),
          .ref64 = ir::kernel_fn<&f64::random_uniform_ref>(),
          .fast = ir::kernel_fn<&random_uniform_simd>(),
      },
      .flow{.reads_rng = true},
  };
  return def;
}

Value draw(ir::Graph& graph, const Shape& shape, const RandomUniformOptions& options) {
  const RandomUniformAttrs attrs{shape, options.low, options.high, new_stream(graph)};
  return graph.add1(random_uniform_op(), ir::Attrs::of(attrs), {rng_of(graph)});
}

}  // namespace
}  // namespace thimble::ops::random_uniform_impl

THIMBLE_OP_FOLDER(random_uniform) {
  static const OpDef* const defs[] = {&random_uniform_op()};
  return defs;
}

namespace thimble {

void describe(RandomUniformOptions& o, ir::OptionVisitor& v) {
  v.field("low", o.low, "the smallest number");
  v.field("high", o.high, "above the largest number");
}

Value random_uniform(Value like, const RandomUniformOptions& options) {
  return ops::random_uniform_impl::draw(like.graph(), like.shape(), options);
}

Value random_uniform(Graph& graph, const Shape& shape, const RandomUniformOptions& options) {
  return ops::random_uniform_impl::draw(graph.ir(), shape, options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(random_uniform) {
  static const FunctionDef random_uniform_function{
      .name = "random_uniform",
      .doc =
          "Random numbers evenly spread over [low, high), new ones each step. No gradient flows "
          "through.",
      .example = "auto noise = random_uniform(x, {.low = -1, .high = 1});",
      .inputs = {{.name = "like", .doc = "gives the shape", .types = ir::kAnyType}},
      .outputs = {{"y", "the shape of like, f32"}},
      .options = ir::OptionSchema::of<RandomUniformOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {random_uniform(in[0], options_as<RandomUniformOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&random_uniform_function};
  return defs;
}
