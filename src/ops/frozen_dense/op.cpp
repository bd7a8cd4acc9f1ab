#include <thimble/ops/frozen_dense.h>
#include <thimble/ops/sum_to.h>

#include "ir/graph.h"
#include "ops/frozen_dense/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP frozen_dense
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::frozen_dense_impl {

// The fast kernel, in simd.cpp; shapes and layout as in ref.h.
void frozen_dense_simd(float* y, const float* x, const unsigned char* w, const float* scales,
                       const float* bias, void* workspace, const frozen_dense_dims* d,
                       parallel::ThreadPool& pool);
[[nodiscard]] int64_t frozen_dense_workspace_bytes(const frozen_dense_dims& d, int threads);

namespace {

constexpr ir::TypeSet kWeightTypes = ir::TypeSet(DType::bf16) | DType::f16 | DType::i8 | DType::i4;

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const bool transposed = c.attrs.as<FrozenDenseAttrs>().transpose_b;
  const Shape& x = c.shape(0);
  c.require(x.rank() >= 1, "expected x [..., features]");
  c.require_rank(1, 2);
  c.require(c.input(1).quantization == nullptr, "expected a weight whose scales are an input");
  const Shape& w = c.shape(1);
  c.require(w[transposed ? 1 : 0] == x[-1],
            "expected a weight of as many features as x; check transpose_b");
  c.require(c.input(1).dtype != DType::i4 || w[1] % 2 == 0,
            "expected a weight of i4 with rows of an even length");
  if (c.has(2)) {
    c.require_rank(2, 2);
    const Shape& scales = c.shape(2);
    const bool divides = scales[1] > 0 && w[1] % scales[1] == 0;
    c.require(scales[0] == w[0] && divides,
              "expected scales [rows of the weight, groups], groups that divide its columns");
  }
  const int64_t units = w[transposed ? 0 : 1];
  if (c.has(3)) c.require(c.shape(3) == Shape{units}, "expected a bias with one value a unit");
  std::vector<int64_t> dims = x.dims();
  dims.back() = units;
  return {{DType::f32, Shape(std::move(dims))}};
}

ir::Params params(const ir::KernelContext& c) {
  const Shape& w = c.in(1);
  frozen_dense_dims d{};
  d.transpose_b = c.attrs.as<FrozenDenseAttrs>().transpose_b ? 1 : 0;
  d.n = static_cast<int>(w[d.transpose_b != 0 ? 0 : 1]);
  d.k = static_cast<int>(w[d.transpose_b != 0 ? 1 : 0]);
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < c.in(0).rank(); ++axis) rows *= c.in(0)[axis];
  d.m = static_cast<int>(rows);
  d.type = static_cast<int>(c.inputs[1]->dtype);
  if (c.has(2)) d.group = static_cast<int>(w[1] / c.in(2)[1]);
  return d;
}

const OpDef& frozen_dense_op() {
  static const OpDef def{
      .name = "frozen_dense",
      .signature{
          .doc = "A dense layer whose weight is stored in a narrow type and never trained: y = x "
                 "W^T + b, with each row of W in groups that are multiplied by scales.",
          .example = "auto y = frozen_dense(x, weight);",
          .inputs = {{.name = "x", .doc = "[..., features]", .types = DType::f32},
                     {.name = "weight",
                      .doc = "[units, features], or [features, units]",
                      .types = kWeightTypes},
                     {.name = "scales",
                      .doc = "[rows of the weight, groups]",
                      .optional = true,
                      .types = DType::f32},
                     {.name = "bias", .doc = "[units]", .optional = true, .types = DType::f32}},
          .outputs = {{"y", "[..., units]"}},
          .attrs = ir::Attrs::schema_of<FrozenDenseAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        std::vector<Value> grads(4);
        FrozenDenseAttrs attrs = c.attrs.as<FrozenDenseAttrs>();
        attrs.transpose_b = !attrs.transpose_b;
        if (c.need(3)) grads[3] = sum_to(c.grad(), c.input(3).shape());
        if (c.need(0)) {
          grads[0] = frozen_dense(c.grad(), c.input(1), c.input(2), Value(), attrs);
        }
        return grads;
      }},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return frozen_dense_workspace_bytes(p.as<frozen_dense_dims>(), threads);
              },
          .flops =
              [](const ir::Params& p) {
                const auto d = p.as<frozen_dense_dims>();
                return 2.0 * d.m * d.n * d.k;
              },
          .ref = ir::kernel_fn<&f32::frozen_dense_ref>(),
          .ref64 = ir::kernel_fn<&f64::frozen_dense_ref>(),
          .fast = ir::kernel_fn<&frozen_dense_simd>(),
          .any_type = true,
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .flow{.row_wise = [](const ir::KernelContext&) { return true; }},
      .layer = [](const ir::KernelContext& c) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{
            .weight = 1,
            .bias = 3,
            .input_channels = c.attrs.as<FrozenDenseAttrs>().transpose_b ? 1 : 0};
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::frozen_dense_impl

THIMBLE_OP_FOLDER(frozen_dense) {
  static const OpDef* const defs[] = {&frozen_dense_op()};
  return defs;
}

namespace thimble {

void describe(FrozenDenseAttrs& a, ir::FieldVisitor& v) {
  v.field("transpose_b", a.transpose_b, "the weight is [units, features]; else [features, units]");
}

Value frozen_dense(Value x, Value weight, Value scales, Value bias, const FrozenDenseAttrs& attrs) {
  const Value inputs[] = {x, weight, scales, bias};
  return x.graph().add(ops::frozen_dense_impl::frozen_dense_op(), ir::Attrs::of(attrs), inputs)[0];
}

}  // namespace thimble
