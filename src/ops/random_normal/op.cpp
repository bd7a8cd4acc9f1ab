#include <thimble/ops/random_normal.h>

#include <cmath>

#include "ir/function_def.h"
#include "ops/families/random/random.h"
#include "ops/families/random/random_dims.h"
#include "ops/random_normal/attrs.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP random_normal
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::random_normal_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void random_normal_simd(float* y, const uint32_t* rng, const random_dims* d,
                        parallel::ThreadPool& pool);

namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& a = c.attrs.as<RandomNormalAttrs>();
  require_rng(c, a.stream);
  c.require(std::isfinite(a.mean) && std::isfinite(a.stddev) && a.stddev >= 0.0,
            "expected a finite mean and a finite stddev >= 0");
  return {{DType::f32, a.shape}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& a = c.attrs.as<RandomNormalAttrs>();
  return random_dims{.n = static_cast<int>(c.out().elements()),
                     .stream = static_cast<uint32_t>(a.stream),
                     .a = a.mean,
                     .b = a.stddev};
}

const OpDef& random_normal_op() {
  static const OpDef def{
      .name = "random_normal",
      .signature{
          .doc = "Normally distributed random numbers: y = mean + stddev sqrt(-2 ln(1 - u)) cos(2 "
                 "pi v) and its sine twin, with u, v of 24 bits from Philox 4x32-10, keyed by "
                 "seed, step and stream.",
          .example = "auto noise = random_normal(x);",
          .inputs = {rng_argument()},
          .outputs = {{"y", "the shape in the attributes"}},
          .attrs = ir::Attrs::schema_of<RandomNormalAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::random_normal_ref>(),
          .ref64 = ir::kernel_fn<&f64::random_normal_ref>(),
          .fast = ir::kernel_fn<&random_normal_simd>(),
      },
      .flow{.reads_rng = true},
  };
  return def;
}

Value draw(ir::Graph& graph, const Shape& shape, const RandomNormalOptions& options) {
  const RandomNormalAttrs attrs{shape, options.mean, options.stddev, new_stream(graph)};
  return graph.add1(random_normal_op(), ir::Attrs::of(attrs), {rng_of(graph)});
}

}  // namespace
}  // namespace thimble::ops::random_normal_impl

THIMBLE_OP_FOLDER(random_normal) {
  static const OpDef* const defs[] = {&random_normal_op()};
  return defs;
}

namespace thimble {

void describe(RandomNormalOptions& o, ir::OptionVisitor& v) {
  v.field("mean", o.mean, "of the distribution");
  v.field("stddev", o.stddev, "its standard deviation");
}

Value random_normal(Value like, const RandomNormalOptions& options) {
  return ops::random_normal_impl::draw(like.graph(), like.shape(), options);
}

Value random_normal(Graph& graph, const Shape& shape, const RandomNormalOptions& options) {
  return ops::random_normal_impl::draw(graph.ir(), shape, options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(random_normal) {
  static const FunctionDef random_normal_function{
      .name = "random_normal",
      .doc = "Normally distributed random numbers, new ones each step. No gradient flows through.",
      .example = "auto noise = random_normal(x);",
      .inputs = {{.name = "like", .doc = "gives the shape", .types = ir::kAnyType}},
      .outputs = {{"y", "the shape of like, f32"}},
      .options = ir::OptionSchema::of<RandomNormalOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {random_normal(in[0], options_as<RandomNormalOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&random_normal_function};
  return defs;
}
