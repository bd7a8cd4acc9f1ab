#include <thimble/ops/loss_scale.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "ir/graph.h"
#include "ops/loss_scale/attrs.h"
#include "ops/loss_scale/dims.h"
#include "ops/storage_16bit/simd.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP loss_scale
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::loss_scale_impl {
namespace {

constexpr int64_t kTile = 16384;  // in elements

void require_number(const ir::InferContext& c, int input) {
  c.require(c.shape(input).rank() == 0, std::string("expected one number as ") +
                                            c.op.signature.inputs[static_cast<size_t>(input)].name);
}

ir::Params gradient_params(const ir::KernelContext& c) {
  const Shape& shape = c.in(0);
  const int64_t rows = shape.rank() == 0 ? 0 : shape[0];
  return gradient_dims{.n = static_cast<int>(shape.elements()),
                       .type = static_cast<int>(c.inputs[0]->dtype),
                       .width = rows == 0 ? 0 : static_cast<int>(shape.elements() / rows),
                       .first = 0};
}

// Whether the exponent of an element has all its bits set.
template <class Bits>
bool any_infinite(const unsigned char* x, int64_t begin, int64_t end, Bits exponent) {
  const Bits* const bits = reinterpret_cast<const Bits*>(x);
  unsigned found = 0;
  for (int64_t i = begin; i < end; ++i) found |= (bits[i] & exponent) == exponent ? 1U : 0U;
  return found != 0;
}

bool any_infinite(const unsigned char* x, int64_t begin, int64_t end, int type) {
  if (type == ELEMENT_F32) return any_infinite<uint32_t>(x, begin, end, uint32_t{0x7f800000});
  const uint16_t exponent = type == ELEMENT_F16 ? 0x7c00 : 0x7f80;
  return any_infinite<uint16_t>(x, begin, end, exponent);
}

void has_non_finite_fast(int32_t* y, const unsigned char* x, const int32_t* previous,
                         const gradient_dims* d, parallel::ThreadPool& pool) {
  std::atomic<bool> found = previous != nullptr && *previous != 0;
  pool.run((d->n + kTile - 1) / kTile, [&](int64_t tile) {
    if (found.load(std::memory_order_relaxed)) return;
    const int64_t begin = tile * kTile;
    if (any_infinite(x, begin, std::min<int64_t>(d->n, begin + kTile), d->type)) {
      found.store(true, std::memory_order_relaxed);
    }
  });
  *y = found.load() ? 1 : 0;
}

void unscale_gradient_fast(float* y, const unsigned char* grad, const float* scale,
                           const gradient_dims* d, parallel::ThreadPool& pool) {
  const auto factor = static_cast<float>(1.0 / static_cast<double>(*scale));
  pool.run((d->n + kTile - 1) / kTile, [=](int64_t tile) {
    const int64_t begin = tile * kTile;
    const int64_t end = std::min<int64_t>(d->n, begin + kTile);
    const auto* from = reinterpret_cast<const float*>(grad) + d->first;
    if (d->type != ELEMENT_F32) {
      const auto* const narrow = reinterpret_cast<const uint16_t*>(grad) + d->first;
      storage_16bit_impl::from_16bit_values(y + begin, narrow + begin, end - begin,
                                            d->type == ELEMENT_BF16);
      from = y;
    }
    for (int64_t i = begin; i < end; ++i) y[i] = factor * from[i];
  });
}

const OpDef& has_non_finite_op() {
  static const OpDef def{
      .name = "has_non_finite",
      .signature{
          .doc = "1 if an element of x is infinite or NaN, or previous is not 0; else 0: of many "
                 "tensors where chained.",
          .inputs =
              {{.name = "x", .doc = "any shape", .types = ir::kFloatingTypes},
               {.name = "previous", .doc = "one number", .optional = true, .types = DType::i32}},
          .outputs = {{"y", "one number"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        if (c.has(1)) require_number(c, 1);
        return {{DType::i32, {}}};
      },
      .kernels{
          .params = gradient_params,
          .ref = ir::kernel_fn<&f32::has_non_finite_ref>(),
          .ref64 = ir::kernel_fn<&f64::has_non_finite_ref>(),
          .fast = ir::kernel_fn<&has_non_finite_fast>(),
          .any_type = true,
      },
  };
  return def;
}

const OpDef& unscale_gradient_op() {
  static const OpDef def{
      .name = "unscale_gradient",
      .signature{
          .doc = "A gradient of a scaled loss as one of the loss: y = grad / scale, in f32.",
          .inputs = {{.name = "grad", .doc = "any shape", .types = ir::kFloatingTypes},
                     {.name = "scale", .doc = "one number", .types = DType::f32}},
          .outputs = {{"y", "the shape of grad, f32"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_number(c, 1);
        return {{DType::f32, c.shape(0)}};
      },
      .kernels{
          .params = gradient_params,
          .ref = ir::kernel_fn<&f32::unscale_gradient_ref>(),
          .ref64 = ir::kernel_fn<&f64::unscale_gradient_ref>(),
          .fast = ir::kernel_fn<&unscale_gradient_fast>(),
          .any_type = true,
      },
      .memory{.part = {.rows = [](const ir::Params& p) -> int64_t {
                         return p.as<gradient_dims>().width > 0 ? 1 : 0;
                       },
                       .part =
                           [](void* params, int64_t first, int64_t count) {
                             auto& d = *static_cast<gradient_dims*>(params);
                             d.first = static_cast<int>(first * d.width);
                             d.n = static_cast<int>(count * d.width);
                           }}},
  };
  return def;
}

const OpDef& update_number_op() {
  static const OpDef def{
      .name = "update_number",
      .signature{
          .doc = "The number of an update, as optimizers take it: 0, for none, if found is not 0, "
                 "else step - skipped.",
          .inputs = {{.name = "step",
                      .doc = "one number: this step's number, from 1",
                      .types = DType::i32},
                     {.name = "skipped",
                      .doc = "one number: steps without an update before it",
                      .types = DType::i32},
                     {.name = "found",
                      .doc = "one number: whether a gradient is not finite",
                      .types = DType::i32}},
          .outputs = {{"number", "one number"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        for (const int input : {0, 1, 2}) require_number(c, input);
        return {{DType::i32, {}}};
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::update_number_ref>(),
          .ref64 = ir::kernel_fn<&f64::update_number_ref>(),
      },
  };
  return def;
}

const OpDef& update_loss_scale_op() {
  static const OpDef def{
      .name = "update_loss_scale",
      .signature{
          .doc = "The scale of the loss after a step, in place: scale * backoff if found is not 0; "
                 "else scale * growth after every `interval` such steps in a row, as long as that "
                 "is finite. Equal to torch.amp.GradScaler.",
          .inputs = {{"scale", "one number: a state"},
                     {.name = "good_steps",
                      .doc = "one number: a state, steps since the scale last changed",
                      .types = DType::i32},
                     {.name = "skipped",
                      .doc = "one number: a state, steps without an update",
                      .types = DType::i32},
                     {.name = "found",
                      .doc = "one number: whether a gradient is not finite",
                      .types = DType::i32}},
          .outputs = {{"scale", "the same memory, updated"},
                      {"good_steps", "the same memory, updated"},
                      {"skipped", "the same memory, updated"}},
          .attrs = ir::Attrs::schema_of<LossScaleOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_number(c, 0);
        for (const int input : {1, 2, 3}) require_number(c, input);
        const auto& a = c.attrs.as<LossScaleOptions>();
        c.require(a.growth >= 1.0 && std::isfinite(a.growth), "growth must be at least 1");
        c.require(a.backoff > 0.0 && a.backoff < 1.0, "backoff must be above 0 and below 1");
        c.require(a.interval >= 1, "interval must be at least 1");
        return {c.input(0), c.input(1), c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& a = c.attrs.as<LossScaleOptions>();
            return loss_scale_dims{a.growth, a.backoff, a.interval};
          },
          .ref = ir::kernel_fn<&f32::update_loss_scale_ref>(),
          .ref64 = ir::kernel_fn<&f64::update_loss_scale_ref>(),
      },
      .memory{.updates = {{0, 0}, {1, 1}, {2, 2}}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::loss_scale_impl

THIMBLE_OP_FOLDER(loss_scale) {
  static const OpDef* const defs[] = {&has_non_finite_op(), &unscale_gradient_op(),
                                      &update_number_op(), &update_loss_scale_op()};
  return defs;
}

namespace thimble {

Value has_non_finite(Value x, Value previous) {
  return x.graph().add1(ops::loss_scale_impl::has_non_finite_op(), {}, {x, previous});
}

Value unscale_gradient(Value grad, Value scale) {
  return grad.graph().add1(ops::loss_scale_impl::unscale_gradient_op(), {}, {grad, scale});
}

Value update_number(Value step, Value skipped, Value found) {
  return step.graph().add1(ops::loss_scale_impl::update_number_op(), {}, {step, skipped, found});
}

Value update_loss_scale(Value scale, Value good_steps, Value skipped, Value found,
                        const LossScaleOptions& options) {
  const Value inputs[] = {scale, good_steps, skipped, found};
  return scale.graph().add(ops::loss_scale_impl::update_loss_scale_op(), ir::Attrs::of(options),
                           inputs)[0];
}

}  // namespace thimble
