#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/quantized_dense.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sum_to.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/binary/broadcast.h"
#include "ops/families/kernel/integers.h"
#include "ops/families/move/trained.h"
#include "ops/families/unary/activation_grad.h"
#include "ops/matmul/simd.h"
#include "simd/gemm.h"

#define THIMBLE_OP matmul
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"
#include "ops/families/move/scales.h"

namespace thimble::ops::matmul_impl {
namespace {

// All dimensions except the last two.
std::vector<int64_t> batch_dims(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end() - 2};
}

struct MatrixSize {
  int64_t rows;
  int64_t columns;
};

MatrixSize matrix_size(const Shape& shape, bool transposed) {
  return transposed ? MatrixSize{shape[-1], shape[-2]} : MatrixSize{shape[-2], shape[-1]};
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  require_plain_numbers(c);
  c.require(c.shape(0).rank() >= 2 && c.shape(1).rank() >= 2,
            "expected a and b of at least 2 dimensions; reshape vectors to [1, n] or [n, 1]");
  const MatrixSize a = matrix_size(c.shape(0), attrs.transpose_a);
  const MatrixSize b = matrix_size(c.shape(1), attrs.transpose_b);
  c.require(a.columns == b.rows,
            "expected as many columns of a as rows of b, after transposition; check transpose_a "
            "and transpose_b");
  const bool many = c.shape(0).rank() > 2;
  c.require(!many || c.shape(1).rank() == 2 || batch_dims(c.shape(0)) == batch_dims(c.shape(1)),
            "expected equal dimensions before the last two, or one of a and b to be one matrix");
  if (c.has(2)) {
    c.require(c.shape(2) == Shape{b.columns},
              "expected a bias with one value a column of the result");
  }
  std::vector<int64_t> dims = batch_dims(c.shape(many ? 0 : 1));
  dims.push_back(a.rows);
  dims.push_back(b.columns);
  return {{c.input(0).dtype, Shape(std::move(dims))}};
}

// Whether many matrices times one matrix are a single, taller matrix times it.
bool is_one_product(const Shape& a, const Shape& b, const MatmulAttrs& attrs) {
  return b.rank() == 2 && !attrs.transpose_a && a.rank() >= 2;
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  const MatrixSize a = matrix_size(c.in(0), attrs.transpose_a);
  const MatrixSize b = matrix_size(c.in(1), attrs.transpose_b);
  const auto batch = Shape(batch_dims(c.out())).elements();
  const bool one = is_one_product(c.in(0), c.in(1), attrs);
  matmul_dims d{};
  d.batch = one ? 1 : static_cast<int>(batch);
  d.m = static_cast<int>(one ? batch * a.rows : a.rows);
  d.n = static_cast<int>(b.columns);
  d.k = static_cast<int>(a.columns);
  d.transpose_a = attrs.transpose_a ? 1 : 0;
  d.transpose_b = attrs.transpose_b ? 1 : 0;
  d.broadcast_a = !one && c.in(0).rank() < c.out().rank() ? 1 : 0;
  d.broadcast_b = !one && c.in(1).rank() < c.out().rank() ? 1 : 0;
  d.activation = kernel_activation_of(attrs.activation);
  d.is_matrix = c.out().rank() == 2 ? 1 : 0;
  return d;
}

double flops(const ir::Params& params) {
  const auto d = params.as<matmul_dims>();
  return 2.0 * d.batch * d.m * d.n * d.k;
}

int64_t rows_of(const Shape& x) {
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) rows *= x[axis];
  return rows;
}

// [..., rows, columns] reshaped to one matrix of all rows.
Value all_rows(Value x) {
  return x.shape().rank() == 2 ? x : reshape(x, {rows_of(x.shape()), x.shape()[-1]});
}

Value gradient_of_a(const MatmulAttrs& attrs, Value a, Value b, Value dy) {
  const Value da = attrs.transpose_a
                       ? matmul(b, dy, {.transpose_a = attrs.transpose_b, .transpose_b = true})
                       : matmul(dy, b, {.transpose_b = !attrs.transpose_b});
  return sum_to(da, a.shape());
}

Value gradient_of_b(const MatmulAttrs& attrs, Value a, Value b, Value dy) {
  const bool one = is_one_product(a.shape(), b.shape(), attrs);
  if (one) {
    a = all_rows(trained_slices(a, a.shape().rank() - 1, b, attrs.transpose_b ? 1 : 0));
    dy = all_rows(dy);
  }
  const Value db = attrs.transpose_b
                       ? matmul(dy, a, {.transpose_a = true, .transpose_b = attrs.transpose_a})
                       : matmul(a, dy, {.transpose_a = !attrs.transpose_a});
  return one ? db : sum_to(db, b.shape());
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  const Value dy = activation_grad(attrs.activation, c.grad(), c.output());
  std::vector<Value> grads(3);
  // The weight gradient is computed first: the input is not needed after it.
  if (c.need(1)) grads[1] = gradient_of_b(attrs, c.input(0), c.input(1), dy);
  if (c.need(2)) grads[2] = sum_to(dy, c.input(2).shape());
  if (c.need(0)) grads[0] = gradient_of_a(attrs, c.input(0), c.input(1), dy);
  return grads;
}

bool is_empty(const matmul_dims& d) { return d.batch == 0 || d.m == 0 || d.n == 0 || d.k == 0; }

// With k = 0 only the bias remains; the fast kernel would have no work to divide.
void fast(float* y, const float* a, const float* b, const float* bias, void* workspace,
          const matmul_dims* d, parallel::ThreadPool& pool) {
  is_empty(*d) ? f32::matmul_ref(y, a, b, bias, d) : matmul_simd(y, a, b, bias, workspace, d, pool);
}

int64_t workspace(const ir::Params& params, int threads) {
  const auto d = params.as<matmul_dims>();
  return is_empty(d) ? 0 : matmul_workspace_bytes(d, threads);
}

// Rows of y that can be computed on their own: every element is summed in the same order in any
// split.
int64_t part_rows(const ir::Params& params) {
  const auto d = params.as<matmul_dims>();
  return d.batch == 1 && d.is_matrix && !is_empty(d) ? simd::kGemmPartRows : 0;
}

void part(void* params, int64_t first, int64_t count) {
  auto& d = *static_cast<matmul_dims*>(params);
  d.a_rows = d.m;
  d.a_first = static_cast<int>(first);
  d.m = static_cast<int>(count);
}

// Rows of a; the matrices of a batch; or, for a gradient of weights, the terms of all sums.
ir::RowBlocks row_blocks(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  if (is_one_product(c.in(0), c.in(1), attrs)) return {{0}, {0}};
  if (c.out().rank() > 2) {
    ir::RowBlocks blocks{{}, {0}};
    for (const int i : {0, 1}) {
      if (c.in(i).rank() > 2) blocks.inputs.push_back(i);
    }
    return blocks;
  }
  const bool has_bias = c.inputs.size() > 2 && c.inputs[2] != nullptr;
  const bool sums = attrs.transpose_a && !attrs.transpose_b && !has_bias;
  return sums && attrs.activation == Activation::none ? ir::RowBlocks{{0, 1}, {}} : ir::RowBlocks{};
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_dense(c.input(0), c.input(1), c.input(2),
                          {.activation = c.attrs.as<MatmulAttrs>().activation,
                           .scale = c.scale,
                           .zero_point = c.zero_point,
                           .requantization = c.requantization})};
}

// A dense layer: rows times one matrix.
std::optional<ir::WeightLayout> weights(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  if (!is_one_product(c.in(0), c.in(1), attrs)) return std::nullopt;
  return ir::WeightLayout{.channels = attrs.transpose_b ? 0 : 1, .transposed = !attrs.transpose_b};
}

std::optional<ir::LayerParameters> layer(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<MatmulAttrs>();
  if (!is_one_product(c.in(0), c.in(1), attrs)) return std::nullopt;
  return ir::LayerParameters{.weight = 1, .bias = 2, .input_channels = attrs.transpose_b ? 1 : 0};
}

const OpDef& matmul_op() {
  static const OpDef def{
      .name = "matmul",
      .signature{
          .doc = "Matrix product: y[i, j] = act(sum over l of a[i, l] b[l, j] + bias[j]), for "
                 "every matrix of a batch. Integers wrap.",
          .example = "auto y = matmul(a, b, {.transpose_b = true});",
          .inputs = {{"a", "[..., m, k]"},
                     {"b", "[..., k, n]"},
                     {"bias", "[n], added to every row", true}},
          .outputs = {{"y", "[..., m, n]"}},
          .attrs = ir::Attrs::schema_of<MatmulAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.fuse_activation = fuse_activation<MatmulAttrs>},
      .kernels{
          .params = params,
          .workspace = workspace,
          .flops = flops,
          .ref = ir::kernel_fn<&f32::matmul_ref>(),
          .ref64 = ir::kernel_fn<&f64::matmul_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .typed = SUM_KERNELS(matmul),
          .row_blocks = row_blocks,
      },
      .memory{.part = {.rows = part_rows, .part = part}},
      .flow{.row_wise =
                [](const ir::KernelContext& c) {
                  return is_one_product(c.in(0), c.in(1), c.attrs.as<MatmulAttrs>());
                }},
      .quantized{.build = quantized, .weights = weights, .rescales = true},
      .layer = layer,
  };
  return def;
}

// Broadcasts a and b until their dimensions before the last two are equal, as in NumPy. Cases that
// the op supports itself, and errors, are left to the op.
void same_batches(Value& a, Value& b) {
  if (a.shape().rank() <= 2 || b.shape().rank() <= 2) return;
  const Shape of_a(batch_dims(a.shape()));
  const Shape of_b(batch_dims(b.shape()));
  if (of_a == of_b) return;
  const std::optional<Shape> both = common_shape(of_a, of_b);
  if (!both) return;
  for (Value* const x : {&a, &b}) {
    const Shape shape = x->shape();
    std::vector<int64_t> dims = both->dims();
    dims.push_back(shape[-2]);
    dims.push_back(shape[-1]);
    *x = broadcast_to(*x, Shape(std::move(dims)));
  }
}

}  // namespace
}  // namespace thimble::ops::matmul_impl

THIMBLE_OP_FOLDER(matmul) {
  static const OpDef* const defs[] = {&matmul_op()};
  return defs;
}

namespace thimble {

void describe(MatmulAttrs& a, ir::FieldVisitor& v) {
  v.field("transpose_a", a.transpose_a, "a is [..., k, m]");
  v.field("transpose_b", a.transpose_b, "b is [..., n, k]");
  v.field("activation", a.activation, "applied to the result");
}

Value matmul(Value a, Value b, const MatmulAttrs& attrs) { return matmul(a, b, Value(), attrs); }

Value matmul(Value a, Value b, Value bias, const MatmulAttrs& attrs) {
  const bool row = a.shape().rank() == 1;
  const bool column = b.shape().rank() == 1;
  MatmulAttrs own = attrs;
  if (row) {
    a = reshape(a, {1, a.shape()[0]});
    own.transpose_a = false;
  }
  if (column) {
    b = reshape(b, {b.shape()[0], 1});
    own.transpose_b = false;
  }
  ops::matmul_impl::same_batches(a, b);
  const Value y = a.graph().add1(ops::matmul_impl::matmul_op(), ir::Attrs::of(own), {a, b, bias});
  if (!row && !column) return y;
  std::vector<int64_t> dims = y.shape().dims();
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  return reshape(y, Shape(std::move(dims)));
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(matmul) {
  static const FunctionDef matmul_function{
      .name = "matmul",
      .doc =
          "Matrix product: y[i, j] = act(sum over l of a[i, l] b[l, j] + bias[j]), for every "
          "matrix of a batch. The dimensions before the last two broadcast; an operand of one "
          "dimension is a row a or a column b, and y is without that dimension.",
      .inputs = {{"a", "[..., m, k] or [k]"},
                 {"b", "[..., k, n] or [k]"},
                 {"bias", "[n], added to every row", true}},
      .outputs = {{"y", "[..., m, n]"}},
      .options = ir::OptionSchema::of<MatmulAttrs>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {matmul(in[0], in[1], in[2], options_as<MatmulAttrs>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&matmul_function};
  return defs;
}
