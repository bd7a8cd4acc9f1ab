#include <thimble/ops/packed_sequence.h>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/packed_sequence/dims.h"

#define THIMBLE_OP packed_sequence
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::packed_sequence_impl {
namespace {

using Part = void (*)(float*, const float*, const int32_t*, int, const sequence_dims*);

template <Part part>
void fast(float* y, const float* x, const int32_t* lengths, const sequence_dims* d,
          parallel::ThreadPool& pool) {
  for_each_row(pool, d->batch, int64_t{d->steps} * d->width,
               [&](int64_t n) { part(y, x, lengths, static_cast<int>(n), d); });
}

ir::Params params_of(const Shape& x) {
  const int64_t steps = x[0] * x[1];
  return sequence_dims{.batch = static_cast<int>(x[0]),
                       .steps = static_cast<int>(x[1]),
                       .width = steps == 0 ? 0 : static_cast<int>(x.elements() / steps)};
}

void check(const ir::InferContext& c) {
  c.require(c.shape(0).rank() >= 2, "expected sequences [N, T, ...]");
  c.require(c.shape(1) == Shape({c.shape(0)[0]}), "expected a length for each sequence, [N]");
}

// The shape [N, T, ...] without T.
Shape without_steps(const Shape& x) {
  std::vector<int64_t> dims = x.dims();
  dims.erase(dims.begin() + 1);
  return Shape(std::move(dims));
}

// Completes the definition of an op that keeps the shape; the caller sets name, doc, example,
// gradient and kernels.
OpDef steps(OpDef def) {
  def.signature.inputs = {{"x", "[N, T, ...]"},
                          {.name = "lengths", .doc = "[N]", .types = DType::i32}};
  def.signature.outputs = {{"y", "the shape of x"}};
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    check(c);
    return {c.input(0)};
  };
  def.kernels.params = [](const ir::KernelContext& c) { return params_of(c.in(0)); };
  return def;
}

const OpDef& mask_sequence_op() {
  static const OpDef def = steps({
      .name = "mask_sequence",
      .signature{
          .doc = "Sequences with 0 in the steps beyond their lengths.",
          .example = "auto y = mask_sequence(x, lengths);",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {mask_sequence(c.grad(), c.input(1)), Value()};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::mask_sequence_ref>(),
          .ref64 = ir::kernel_fn<&f64::mask_sequence_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::mask_sequence_part>>(),
      },
      .memory{.in_place = {{0, 0}}},
  });
  return def;
}

const OpDef& reverse_sequence_op() {
  static const OpDef def = steps({
      .name = "reverse_sequence",
      .signature{
          .doc = "Sequences whose steps, as many as their lengths say, stand in the reverse order.",
          .example = "auto y = reverse_sequence(x, lengths);",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {reverse_sequence(c.grad(), c.input(1)), Value()};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::reverse_sequence_ref>(),
          .ref64 = ir::kernel_fn<&f64::reverse_sequence_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::reverse_sequence_part>>(),
      },
  });
  return def;
}

struct LastGradAttrs {
  int64_t steps = 0;  // number of steps of last_of_sequence's input
};
void describe(LastGradAttrs& a, ir::FieldVisitor& v) {
  v.field("steps", a.steps, "of last_of_sequence's input");
}

const OpDef& last_grad_op() {
  static const OpDef def{
      .name = "last_of_sequence_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of last_of_sequence: zeros but for the last step that counts.",
          .inputs = {{"dy", "[N, ...]"}, {.name = "lengths", .doc = "[N]", .types = DType::i32}},
          .outputs = {{"dx", "[N, T, ...]"}},
          .attrs = ir::Attrs::schema_of<LastGradAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        std::vector<int64_t> dims = c.shape(0).dims();
        dims.insert(dims.begin() + 1, c.attrs.as<LastGradAttrs>().steps);
        return {{DType::f32, Shape(std::move(dims))}};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c.out()); },
          .ref = ir::kernel_fn<&f32::last_of_sequence_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::last_of_sequence_grad_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::last_of_sequence_grad_part>>(),
      },
  };
  return def;
}

const OpDef& last_of_sequence_op() {
  static const OpDef def{
      .name = "last_of_sequence",
      .signature{
          .doc = "The last step of every sequence, as its length says.",
          .example = "auto last = last_of_sequence(states, lengths);",
          .inputs = {{"x", "[N, T, ...]"}, {.name = "lengths", .doc = "[N]", .types = DType::i32}},
          .outputs = {{"y", "[N, ...]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c);
        return {{DType::f32, without_steps(c.shape(0))}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const LastGradAttrs attrs{c.input(0).shape()[1]};
        return {c.grad().graph().add1(last_grad_op(), ir::Attrs::of(attrs), {c.grad(), c.input(1)}),
                Value()};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) { return params_of(c.in(0)); },
          .ref = ir::kernel_fn<&f32::last_of_sequence_ref>(),
          .ref64 = ir::kernel_fn<&f64::last_of_sequence_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::last_of_sequence_part>>(),
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::packed_sequence_impl

THIMBLE_OP_FOLDER(packed_sequence) {
  static const OpDef* const defs[] = {&mask_sequence_op(), &reverse_sequence_op(),
                                      &last_of_sequence_op(), &last_grad_op()};
  return defs;
}

namespace thimble {

Value mask_sequence(Value x, Value lengths) {
  return x.graph().add1(ops::packed_sequence_impl::mask_sequence_op(), {}, {x, lengths});
}
Value reverse_sequence(Value x, Value lengths) {
  return x.graph().add1(ops::packed_sequence_impl::reverse_sequence_op(), {}, {x, lengths});
}
Value last_of_sequence(Value x, Value lengths) {
  return x.graph().add1(ops::packed_sequence_impl::last_of_sequence_op(), {}, {x, lengths});
}

}  // namespace thimble
