#include <thimble/ops/broadcast_to.h>
#include <thimble/ops/sum_to.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/broadcast_to/dims.h"
#include "ops/families/binary/broadcast.h"
#include "ops/families/move/copy.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP broadcast_to
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::broadcast_to_impl {
namespace {

struct BroadcastToAttrs {
  Shape shape;
};

void describe(BroadcastToAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of the result");
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const Shape& shape = c.attrs.as<BroadcastToAttrs>().shape;
  c.require(shape.rank() <= kMaxRank, fmt::format("expected at most {} dimensions", kMaxRank));
  if (!broadcasts_to(c.shape(0), shape)) {
    c.fail(fmt::format("x cannot be repeated to fill shape {}", to_string(shape)));
  }
  return {moved_type(c, 0, shape)};
}

ir::Params params(const ir::KernelContext& c) {
  return broadcast_to_dims{broadcast_dims_of(c.in(0), c.out(), 1),
                           copy_element_of(c.outputs[0].dtype)};
}

// Floats use vectors and threads; other types are small index tensors.
void fast(unsigned char* y, const unsigned char* x, const broadcast_to_dims* d,
          parallel::ThreadPool& pool) {
  if (d->element.is_real) {
    broadcast_simd(reinterpret_cast<float*>(y), reinterpret_cast<const float*>(x), &d->values,
                   pool);
  } else {
    f32::broadcast_to_ref(y, x, d);
  }
}

const OpDef& broadcast_to_op() {
  static const OpDef def{
      .name = "broadcast_to",
      .signature{
          .doc = "x repeated along new leading axes and along its axes of size 1, as in NumPy.",
          .example = "auto y = broadcast_to(x, {3, 28, 28, 1});",
          .inputs = {{"x", "any shape that fits"}},
          .outputs = {{"y", "the new shape"}},
          .attrs = ir::Attrs::schema_of<BroadcastToAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {sum_to(c.grad(), c.input(0).shape())};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::broadcast_to_ref>(),
          .ref64 = ir::kernel_fn<&f64::broadcast_to_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::broadcast_to_impl

THIMBLE_OP_FOLDER(broadcast_to) {
  static const OpDef* const defs[] = {&broadcast_to_op()};
  return defs;
}

namespace thimble {
Value broadcast_to(Value x, const Shape& shape) {
  return x.graph().add1(ops::broadcast_to_impl::broadcast_to_op(),
                        ir::Attrs::of(ops::broadcast_to_impl::BroadcastToAttrs{shape}), {x});
}
}  // namespace thimble
