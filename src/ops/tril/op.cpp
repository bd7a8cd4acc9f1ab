#include <thimble/ops/tril.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/move/copy.h"
#include "ops/tril/dims.h"

#define THIMBLE_OP tril
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::tril_impl {
namespace {

using Part = void (*)(unsigned char*, const unsigned char*, ptrdiff_t, const tril_dims*);
using Whole = void (*)(unsigned char*, const unsigned char*, const tril_dims*);

template <Part part, Whole whole>
void fast(unsigned char* y, const unsigned char* x, const tril_dims* d,
          parallel::ThreadPool& pool) {
  if (copy_is_packed(d->element)) return whole(y, x, d);  // rows may share a byte
  for_each_row(pool, int64_t{d->count} * d->rows, d->columns,
               [&](int64_t row) { part(y, x, row, d); });
}

ir::Params params(const ir::KernelContext& c) {
  const Shape& x = c.in(0);
  const int64_t rows = x[-2];
  const int64_t columns = x[-1];
  tril_dims d{};
  d.count = rows * columns == 0 ? 0 : static_cast<int>(x.elements() / (rows * columns));
  d.rows = static_cast<int>(rows);
  d.columns = static_cast<int>(columns);
  d.diagonal =
      static_cast<int>(std::clamp<int64_t>(c.attrs.as<TriangleOptions>().diagonal, -rows, columns));
  d.element = copy_element_of(c.outputs[0].dtype);
  return d;
}

// Completes the definition; the caller sets name, doc, example, gradient and kernels.
OpDef triangle(OpDef def) {
  def.signature.inputs = {{"x", "[..., rows, columns] of any type"}};
  def.signature.outputs = {{"y", "the shape of x"}};
  def.signature.attrs = ir::Attrs::schema_of<TriangleOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require(c.shape(0).rank() >= 2, "expected at least two dimensions");
    const ir::TensorType y = moved_type(c, 0, c.shape(0));
    c.require(!y.quantization || y.quantization->zero_points.empty() ||
                  y.quantization->zero_points[0] == 0,
              "zeros of x have another zero point than 0; dequantize it before");
    return {y};
  };
  def.kernels.params = params;
  def.kernels.any_type = true;
  def.memory.in_place = {{0, 0}};
  def.flow.samples = [](const ir::SamplesContext& c) {
    return c.in(0).rank() > 2 ? ir::Samples::independent : ir::Samples::mixed;
  };
  return def;
}

const OpDef& tril_op() {
  static const OpDef def = triangle({
      .name = "tril",
      .signature{
          .doc = "The lower triangle of matrices: y[.., i, j] = x[.., i, j] where j - i <= "
                 "diagonal, else 0.",
          .example = "auto causal = tril(scores);",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {tril(c.grad(), c.attrs.as<TriangleOptions>())};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::tril_ref>(),
          .ref64 = ir::kernel_fn<&f64::tril_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::tril_part, &f32::tril_ref>>(),
      },
  });
  return def;
}

const OpDef& triu_op() {
  static const OpDef def = triangle({
      .name = "triu",
      .signature{
          .doc = "The upper triangle of matrices: y[.., i, j] = x[.., i, j] where j - i >= "
                 "diagonal, else 0.",
          .example = "auto above = triu(x, {.diagonal = 1});",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {triu(c.grad(), c.attrs.as<TriangleOptions>())};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::triu_ref>(),
          .ref64 = ir::kernel_fn<&f64::triu_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::triu_part, &f32::triu_ref>>(),
      },
  });
  return def;
}

// A diagonal beyond every matrix as attributes may hold it.
ir::Attrs limited(TriangleOptions options) {
  if (!ir::is_in_range(options.diagonal)) {
    options.diagonal = options.diagonal > 0 ? ir::kMostAttribute : -ir::kMostAttribute;
  }
  return ir::Attrs::of(options);
}

}  // namespace
}  // namespace thimble::ops::tril_impl

THIMBLE_OP_FOLDER(tril) {
  static const OpDef* const defs[] = {&tril_op(), &triu_op()};
  return defs;
}

namespace thimble {

void describe(TriangleOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("diagonal", options.diagonal,
                "that bounds the triangle: 0 the main one, above 0 those above it");
}

Value tril(Value x, const TriangleOptions& options) {
  return x.graph().add1(ops::tril_impl::tril_op(), ops::tril_impl::limited(options), {x});
}
Value triu(Value x, const TriangleOptions& options) {
  return x.graph().add1(ops::tril_impl::triu_op(), ops::tril_impl::limited(options), {x});
}

}  // namespace thimble
