#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/quantized_average_pool2d.h>
#include <thimble/ops/reshape.h>

#include <algorithm>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/pool/pool.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_average_pool2d/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP quantized_average_pool2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_average_pool2d_impl {
namespace {

struct GlobalOptions {
  Requantization requantization = Requantization::floating;
};
void describe(GlobalOptions& o, ir::FieldVisitor& v) {
  describe_requantization(o.requantization, v);
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedAveragePool2dAttrs>();
  require_quantized(c, 0);
  check_image(c, 0);
  const Shape& x = c.shape(0);
  const Pair places = pool_places(c, pool_window(attrs), image_size(x), attrs.ceil_mode);
  return {{DType::i8, {x[0], places.h, places.w, x[3]}, c.input(0).quantization}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedAveragePool2dAttrs>();
  pool_dims d = pool_sizes(pool_window(attrs), c.in(0), c.out());
  d.count_include_pad = attrs.count_include_pad ? 1 : 0;
  return quantized_average_pool2d_dims{d, zero_point_of(*c.inputs[0]),
                                       attrs.requantization == Requantization::fixed_point ? 1 : 0};
}

constexpr int kChannels = 64;  // that are added at once

// sums[c] += x[c]. Of a known number of channels, so that the compiler adds vectors.
void add_channels(int32_t* sums, const int8_t* x, int count) {
  if (count == kChannels) {
    for (int c = 0; c < kChannels; ++c) sums[c] += x[c];
  } else {
    for (int c = 0; c < count; ++c) sums[c] += x[c];
  }
}

void fast(int8_t* y, const int8_t* x, const quantized_average_pool2d_dims* dims,
          parallel::ThreadPool& pool) {
  const pool_dims& d = dims->pool;
  constexpr int64_t kMostCells = 1 << 23;  // whose sum fits int32
  if (int64_t{d.r} * d.s > kMostCells) return f32::quantized_average_pool2d_ref(y, x, dims);
  pool.run(int64_t{d.n} * d.p, [&](int64_t line) {
    const int8_t* const image = x + line / d.p * d.h * d.w * d.c;
    int8_t* to = y + line * d.q * d.c;
    const auto p = static_cast<int>(line % d.p);
    const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, 1, d.r, d.h);
    for (int q = 0; q < d.q; ++q) {
      const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, 1, d.s, d.w);
      const int64_t count = average_pool2d_count(p, q, rows, columns, &d);
      const int64_t inside = int64_t{rows.end - rows.begin} * (columns.end - columns.begin);
      const int64_t padding = (count - inside) * dims->zero_point;
      for (int first = 0; first < d.c; first += kChannels) {
        const int channels = std::min(kChannels, d.c - first);
        int32_t sums[kChannels] = {};
        for (int row = rows.begin; row < rows.end; ++row) {
          const int8_t* cell = image + (int64_t{row} * d.w + columns.begin) * d.c + first;
          for (int column = columns.begin; column < columns.end; ++column, cell += d.c) {
            add_channels(sums, cell, channels);
          }
        }
        for (int c = 0; c < channels; ++c) {
          *to++ = static_cast<int8_t>(quantized_quotient(sums[c] + padding, count, dims->away));
        }
      }
    }
  });
}

// Means of int8 are within int8: nothing is clamped.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<QuantizedAveragePool2dAttrs>();
  return {average_pool2d_grad(c.grad(), {.size = image_size(c.input(0).shape()),
                                         .kernel = attrs.kernel,
                                         .stride = attrs.stride,
                                         .padding = attrs.padding,
                                         .count_include_pad = attrs.count_include_pad,
                                         .ceil_mode = attrs.ceil_mode})};
}

const OpDef& quantized_average_pool2d_op() {
  static const OpDef def{
      .name = "quantized_average_pool2d",
      .signature{
          .doc = "The mean of every window of int8 images, rounded to an int8 of the same scale: "
                 "halves to even (float) or away from zero (fixed_point).",
          .example = "auto y = quantized_average_pool2d(x, {.kernel = 2});",
          .inputs = {{.name = "x",
                      .doc = "[N, H, W, C], i8 with one scale",
                      .batch_rank = 4,
                      .types = DType::i8}},
          .outputs = {{.name = "y",
                       .doc = "[N, P, Q, C], i8 of the quantization of x",
                       .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<QuantizedAveragePool2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::quantized_average_pool2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_average_pool2d_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_average_pool2d_impl

THIMBLE_OP_FOLDER(quantized_average_pool2d) {
  static const OpDef* const defs[] = {&quantized_average_pool2d_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedAveragePool2dAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "size of the window");
  v.field("stride", a.stride, "places the window moves at a time; 0: its size");
  v.field("padding", a.padding, "cells that stand for 0 around the image");
  v.field("count_include_pad", a.count_include_pad, "divide by the whole window");
  v.field("ceil_mode", a.ceil_mode, "a last window that reaches beyond the padding counts, too");
  ops::describe_requantization(a.requantization, v);
}

Value quantized_average_pool2d(Value x, const QuantizedAveragePool2dAttrs& attrs) {
  return x.graph().add1(ops::quantized_average_pool2d_impl::quantized_average_pool2d_op(),
                        ir::Attrs::of(attrs), {x});
}

Value quantized_global_average_pool2d(Value x, Requantization requantization) {
  if (x.shape().rank() != 4) {
    throw Error("quantized_global_average_pool2d",
                "expected images [N, H, W, C], got " + to_string(x.shape()));
  }
  const ir::LayerScope layer(x.graph(), "quantized_global_average_pool2d", "");
  const Value pooled = quantized_average_pool2d(
      x, {.kernel = ops::image_size(x.shape()), .requantization = requantization});
  return reshape(pooled, {pooled.shape()[0], pooled.shape()[3]});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(quantized_average_pool2d) {
  static const FunctionDef def{
      .name = "quantized_global_average_pool2d",
      .doc = "The rounded mean of every channel of an int8 image.",
      .example = "auto features = quantized_global_average_pool2d(images);",
      .inputs = {{.name = "x",
                  .doc = "[N, H, W, C], i8 with one scale",
                  .batch_rank = 4,
                  .types = DType::i8}},
      .outputs = {{.name = "y", .doc = "[N, C], i8 of the quantization of x", .batch_rank = 2}},
      .options = ir::OptionSchema::of<GlobalOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {quantized_global_average_pool2d(in[0],
                                                options_as<GlobalOptions>(options).requantization)};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
