#include <thimble/ops/scaled_dot_product_attention.h>

#include <algorithm>
#include <cmath>

#include "ir/function_def.h"
#include "ops/families/random/random.h"
#include "ops/scaled_dot_product_attention/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP scaled_dot_product_attention
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::scaled_dot_product_attention_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void attention_simd(float* y, float* lse, const uint32_t* rng, const float* q, const float* k,
                    const float* v, const void* mask, void* workspace, const attention_dims* d,
                    parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_workspace_bytes(const attention_dims& d, int threads);

void attention_grad_simd(float* dq, float* dk, float* dv, const uint32_t* rng, const float* dy,
                         const float* q, const float* k, const float* v, const float* y,
                         const float* lse, const void* mask, void* workspace,
                         const attention_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t attention_grad_workspace_bytes(const attention_dims& d, int threads);

namespace {

struct AttentionAttrs {
  bool causal = false;
  double scale = 1.0;
  double dropout = 0.0;
  int64_t stream = 0;
};

void describe(AttentionAttrs& a, ir::FieldVisitor& v) {
  v.field("causal", a.causal, "query t sees the keys 0 to t alone");
  v.field("scale", a.scale, "of the products");
  v.field("dropout", a.dropout, "share of the weights that become 0 in training");
  v.field("stream", a.stream, "number of this draw within a step, for independent random numbers");
}

// Indices of the inputs; the gradients also have dy, y and lse.
struct Places {
  int q, k, v, mask;
};
constexpr Places kForward{1, 2, 3, 4};
constexpr Places kBackward{2, 3, 4, 7};

// Floating-point operations of `products` products with the T x S weights.
template <int products>
double flops(const ir::Params& params) {
  const auto d = params.as<attention_dims>();
  const double pairs = static_cast<double>(d.queries) * d.keys * (d.causal != 0 ? 0.5 : 1.0);
  return products * pairs * d.batch * d.heads * (d.width + d.value_width);
}

void check_mask(const ir::InferContext& c, const Places& at) {
  if (!c.has(at.mask)) return;
  const ir::TensorType& mask = c.input(at.mask);
  c.require_rank(at.mask, 4);
  const Shape& q = c.shape(at.q);
  const int64_t sizes[] = {q[0], q[2], q[1], c.shape(at.k)[1]};
  for (int i = 0; i < 4; ++i) {
    c.require(mask.shape[i] == sizes[i] || mask.shape[i] == 1,
              "expected a mask [N or 1, H or 1, T or 1, S or 1]");
  }
}

void check(const ir::InferContext& c, const Places& at) {
  const auto& attrs = c.attrs.as<AttentionAttrs>();
  for (const int i : {at.q, at.k, at.v}) {
    c.require_rank(i, 4);
  }
  const Shape& q = c.shape(at.q);
  const Shape& k = c.shape(at.k);
  const Shape& v = c.shape(at.v);
  c.require(k[0] == q[0] && v[0] == q[0], "expected q, k and v of one batch size");
  c.require(k[3] == q[3], "expected keys as wide as queries: q [N, T, H, D], k [N, S, G, D]");
  c.require(k[1] == v[1] && k[2] == v[2], "expected as many keys as values: [N, S, G, ...]");
  c.require(k[2] > 0 && q[2] % k[2] == 0,
            "expected a number of query heads that the number of key heads divides");
  c.require(std::isfinite(attrs.scale), "expected a finite scale");
  c.require(attrs.dropout >= 0.0 && attrs.dropout <= 1.0, "dropout must lie between 0 and 1");
  c.require(c.has(0) == (attrs.dropout > 0.0), "dropout, and it alone, needs a random state");
  if (c.has(0)) require_rng(c, attrs.stream);
  check_mask(c, at);
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  check(c, kForward);
  const Shape& q = c.shape(1);
  return {{DType::f32, {q[0], q[1], q[2], c.shape(3)[3]}}, {DType::f32, {q[0], q[2], q[1]}}};
}

attention_dims sizes(const ir::KernelContext& c, const Places& at) {
  const auto& attrs = c.attrs.as<AttentionAttrs>();
  const Shape& q = c.in(at.q);
  attention_dims d{};
  d.batch = static_cast<int>(q[0]);
  d.queries = static_cast<int>(q[1]);
  d.heads = static_cast<int>(q[2]);
  d.width = static_cast<int>(q[3]);
  d.keys = static_cast<int>(c.in(at.k)[1]);
  d.groups = static_cast<int>(c.in(at.k)[2]);
  d.value_width = static_cast<int>(c.in(at.v)[3]);
  d.causal = attrs.causal ? 1 : 0;
  d.scale = attrs.scale;
  d.stream = static_cast<uint32_t>(attrs.stream);
  d.limit = std::round(attrs.dropout * 0x1p24);
  d.keep = attrs.dropout < 1.0 ? 1.0 / (1.0 - attrs.dropout) : 0.0;
  if (c.has(at.mask)) {
    const ir::TensorType& mask = *c.inputs[static_cast<size_t>(at.mask)];
    d.mask_bytes = static_cast<int>(size_bytes(mask.dtype, {1}));
    int step = 1;
    for (int i = 3; i >= 0; --i) {
      d.mask_step[i] = mask.shape[i] == 1 ? 0 : step;
      step *= static_cast<int>(mask.shape[i]);
    }
  }
  return d;
}

// Samples are independent, but for the numbers of dropout. A mask may have one part per sample.
ir::RowBlocks by_samples(const ir::KernelContext& c, std::vector<int> inputs, int mask,
                         std::vector<int> outputs) {
  const auto has = [&c](int i) {
    return static_cast<size_t>(i) < c.inputs.size() && c.inputs[static_cast<size_t>(i)] != nullptr;
  };
  if (has(0)) return {};
  if (has(mask) && c.in(mask)[0] > 1) inputs.push_back(mask);
  return {std::move(inputs), std::move(outputs)};
}

std::vector<ir::ArgDoc> grad_inputs(ir::TypeSet mask) {
  return {
      {"rng", "[6], u32: with dropout", true},
      {"dy", "[N, T, H, E]"},
      {"q", "[N, T, H, D]"},
      {"k", "[N, S, G, D]"},
      {"v", "[N, S, G, E]"},
      {"y", "[N, T, H, E]"},
      {"lse", "[N, H, T]"},
      {.name = "mask", .doc = "[N or 1, H or 1, T or 1, S or 1]", .optional = true, .types = mask}};
}

void check_grad(const ir::InferContext& c) {
  check(c, kBackward);
  const Shape& q = c.shape(2);
  const Shape y{q[0], q[1], q[2], c.shape(4)[3]};
  c.require(c.shape(1) == y && c.shape(5) == y, "expected dy and y of the shape [N, T, H, E]");
  c.require(c.shape(6) == Shape({q[0], q[2], q[1]}), "expected lse of the shape [N, H, T]");
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "scaled_dot_product_attention_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of attention; the weights are recomputed from lse.",
          .inputs = grad_inputs(ir::kFloatingTypes | DType::u8),
          .outputs = {{"dq", "[N, T, H, D]"}, {"dk", "[N, S, G, D]"}, {"dv", "[N, S, G, E]"}},
          .attrs = ir::Attrs::schema_of<AttentionAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_grad(c);
        return {c.input(2), c.input(3), c.input(4)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return sizes(c, kBackward); },
          .workspace =
              [](const ir::Params& p, int threads) {
                return attention_grad_workspace_bytes(p.as<attention_dims>(), threads);
              },
          .flops = flops<5>,
          .ref = ir::kernel_fn<&f32::attention_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::attention_grad_ref>(),
          .fast = ir::kernel_fn<&attention_grad_simd>(),
          .row_blocks =
              [](const ir::KernelContext& c) {
                return by_samples(c, {1, 2, 3, 4, 5, 6}, 7, {0, 1, 2});
              },
      },
      .flow{.reads_rng = true},
  };
  return def;
}

const OpDef& mask_grad_op() {
  static const OpDef def{
      .name = "scaled_dot_product_attention_mask_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of the values that a mask of attention adds.",
          .inputs = grad_inputs(ir::kFloatingTypes),
          .outputs = {{"dmask", "the shape of mask"}},
          .attrs = ir::Attrs::schema_of<AttentionAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_grad(c);
        return {c.input(7)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return sizes(c, kBackward); },
          .flops = flops<2>,
          .ref = ir::kernel_fn<&f32::attention_mask_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::attention_mask_grad_ref>(),
      },
      .flow{.reads_rng = true},
  };
  return def;
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const Value inputs[] = {c.input(0), c.grad(),    c.input(1),  c.input(2),
                          c.input(3), c.output(0), c.output(1), c.input(4)};
  ir::Graph& graph = c.grad().graph();
  std::vector<Value> grads(5);
  if (c.need(1) || c.need(2) || c.need(3)) {
    const std::vector<Value> qkv = graph.add(grad_op(), c.attrs, inputs);
    std::copy(qkv.begin(), qkv.end(), grads.begin() + 1);
  }
  if (c.need(4)) grads[4] = graph.add(mask_grad_op(), c.attrs, inputs)[0];
  return grads;
}

const OpDef& attention_op() {
  static const OpDef def{
      .name = "scaled_dot_product_attention",
      .signature{
          .doc = "Attention: y = softmax over the keys of (q . k * scale + mask), times v, head by "
                 "head. The weights are never stored. lse, through which no gradient flows, is the "
                 "logarithm of each softmax's divisor.",
          .example = "auto y = scaled_dot_product_attention(q, k, v, {.causal = true});",
          .inputs = {{"rng", "[6], u32: with dropout", true},
                     {"q", "[N, T, H, D]"},
                     {"k", "[N, S, G, D], G divides H"},
                     {"v", "[N, S, G, E]"},
                     {.name = "mask",
                      .doc = "[N or 1, H or 1, T or 1, S or 1]: f32 to add, or u8 where 0 hides",
                      .optional = true,
                      .types = ir::kFloatingTypes | DType::u8}},
          .outputs = {{"y", "[N, T, H, E]"}, {"lse", "[N, H, T]"}},
          .attrs = ir::Attrs::schema_of<AttentionAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{
          .specialize = [](const ir::RewriteContext& c, ir::Phase phase) -> std::vector<Value> {
            AttentionAttrs attrs = c.attrs.as<AttentionAttrs>();
            if (phase == ir::Phase::training || attrs.dropout == 0.0) return {};
            attrs.dropout = 0.0;
            const Value inputs[] = {Value(), c.input(1), c.input(2), c.input(3), c.input(4)};
            return c.graph.add(attention_op(), ir::Attrs::of(attrs), inputs);
          }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return sizes(c, kForward); },
          .workspace =
              [](const ir::Params& p, int threads) {
                return attention_workspace_bytes(p.as<attention_dims>(), threads);
              },
          .flops = flops<2>,
          .ref = ir::kernel_fn<&f32::attention_ref>(),
          .ref64 = ir::kernel_fn<&f64::attention_ref>(),
          .fast = ir::kernel_fn<&attention_simd>(),
          .stay_f32 = {1},
          .row_blocks =
              [](const ir::KernelContext& c) {
                return by_samples(c, {1, 2, 3}, 4, {0, 1});
              },
      },
      .flow{.reads_rng = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::scaled_dot_product_attention_impl

THIMBLE_OP_FOLDER(scaled_dot_product_attention) {
  static const OpDef* const defs[] = {&attention_op(), &grad_op(), &mask_grad_op()};
  return defs;
}

namespace thimble {

void describe(AttentionOptions& o, ir::OptionVisitor& v) {
  v.field("causal", o.causal, "query t sees the keys 0 to t alone");
  v.field("scale", o.scale, "of the products; 0: 1 / sqrt(D)");
  v.field("dropout", o.dropout, "share of the weights that become 0 in training");
}

Value scaled_dot_product_attention(Value q, Value k, Value v, Value mask,
                                   const AttentionOptions& options) {
  ir::Graph& graph = q.graph();
  ops::scaled_dot_product_attention_impl::AttentionAttrs attrs{.causal = options.causal,
                                                               .dropout = options.dropout};
  attrs.scale = options.scale;
  if (attrs.scale == 0.0 && q.shape().rank() > 0) {
    attrs.scale = 1.0 / std::sqrt(std::max(1.0, static_cast<double>(q.shape()[-1])));
  }
  Value rng;
  if (attrs.dropout > 0.0) {
    attrs.stream = ops::new_stream(graph);
    rng = ops::rng_of(graph);
  }
  const Value inputs[] = {rng, q, k, v, mask};
  return graph.add(ops::scaled_dot_product_attention_impl::attention_op(), ir::Attrs::of(attrs),
                   inputs)[0];
}

Value scaled_dot_product_attention(Value q, Value k, Value v, const AttentionOptions& options) {
  return scaled_dot_product_attention(q, k, v, Value(), options);
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(scaled_dot_product_attention) {
  static const FunctionDef def{
      .name = "scaled_dot_product_attention",
      .doc =
          "Attention: y = softmax over the keys of (q . k * scale + mask), times v, head by head. "
          "The weights are never stored.",
      .example = "auto y = scaled_dot_product_attention(q, k, v, {.causal = true});",
      .inputs = {{.name = "q", .doc = "[N, T, H, D]", .batch_rank = 4},
                 {.name = "k", .doc = "[N, S, G, D], G divides H", .batch_rank = 4},
                 {.name = "v", .doc = "[N, S, G, E]", .batch_rank = 4},
                 {.name = "mask",
                  .doc = "[N or 1, H or 1, T or 1, S or 1]: f32 to add, or u8 where 0 hides",
                  .optional = true,
                  .types = ir::kFloatingTypes | DType::u8}},
      .outputs = {{.name = "y", .doc = "[N, T, H, E]", .batch_rank = 4}},
      .options = ir::OptionSchema::of<AttentionOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {scaled_dot_product_attention(in[0], in[1], in[2], in[3],
                                             options_as<AttentionOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
