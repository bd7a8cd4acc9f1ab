#include <thimble/ops/fake_quantize.h>

#include <algorithm>

#include "ir/graph.h"
#include "ops/fake_quantize/dims.h"
#include "ops/families/reduction/axes.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#define THIMBLE_OP fake_quantize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::fake_quantize_impl {

namespace {

constexpr int64_t kMostInteger = int64_t{1} << 30;
constexpr int64_t kMostParts = int64_t{1} << 16;  // times integers of 8 bits: exact in f32

void check(const ir::InferContext& c, int x, int scale) {
  const auto& a = c.attrs.as<FakeQuantizeAttrs>();
  c.require(a.low < a.high && a.low >= -kMostInteger && a.high <= kMostInteger,
            "expected low < high, from -2^30 to 2^30");
  c.require(a.low <= a.zero_point && a.zero_point <= a.high,
            "expected a zero point from low to high");
  c.require(a.parts >= 1 && a.parts <= kMostParts, "expected parts from 1 to 65536");
  if (c.shape(scale) == Shape{1}) return;
  const Shape& shape = c.shape(x);
  c.require(shape.rank() >= 1, "expected one scale [1] for a scalar");
  const int axis = checked_axis(c, a.axis, shape.rank());
  c.require(c.shape(scale) == Shape{shape[axis]},
            "expected one scale [1], or one for each index of the axis");
}

fake_quantize_dims dims_of(const ir::Attrs& attrs, const Shape& x, const Shape& scale) {
  const auto& a = attrs.as<FakeQuantizeAttrs>();
  fake_quantize_dims d{};
  if (scale == Shape{1}) {
    d.outer = d.channels = 1;
    d.inner = static_cast<int>(x.elements());
  } else {
    const axis_dims along = axis_dims_of(x, a.axis < 0 ? a.axis + x.rank() : a.axis);
    d.outer = along.outer;
    d.channels = along.size;
    d.inner = along.inner;
  }
  d.low = static_cast<float>(a.low - a.zero_point);
  d.high = static_cast<float>(a.high - a.zero_point);
  d.parts = static_cast<float>(a.parts);
  return d;
}

// Pieces of the tensor that have one scale each; they depend on the sizes alone. A piece is a run
// of a channel, or as many whole channels as a task should have.
struct Pieces {
  static constexpr int kTaskElements = 16384;

  int count;       // runs of a channel
  int of_channel;  // in one outer index
  int a_task;      // runs in a task

  explicit Pieces(const fake_quantize_dims& d)
      : of_channel((d.inner + kTaskElements - 1) / kTaskElements),
        a_task(std::max(1, kTaskElements / std::max(1, d.inner))) {
    count = d.outer * d.channels * of_channel;
  }
};

// Calls run(piece, channel, first element, sizes of the piece).
template <class Run>
void over_pieces(const fake_quantize_dims& d, parallel::ThreadPool& pool, const Run& run) {
  const Pieces pieces(d);
  pool.run((pieces.count + pieces.a_task - 1) / pieces.a_task, [&](int64_t task) {
    const auto begin = static_cast<int>(task) * pieces.a_task;
    for (int p = begin; p < std::min(pieces.count, begin + pieces.a_task); ++p) {
      const int line = p / pieces.of_channel;
      const int offset = p % pieces.of_channel * Pieces::kTaskElements;
      fake_quantize_dims piece = d;
      piece.outer = piece.channels = 1;
      piece.inner = std::min(Pieces::kTaskElements, d.inner - offset);
      run(p, line % d.channels, static_cast<ptrdiff_t>(line) * d.inner + offset, piece);
    }
  });
}

// The channels are the last axis: pieces would be single elements.
bool is_by_column(const fake_quantize_dims& d) { return d.inner == 1 && d.channels > 1; }

void fast(float* y, const float* x, const float* scale, const fake_quantize_dims* d,
          parallel::ThreadPool& pool) {
  if (is_by_column(*d)) return f32::fake_quantize_ref(y, x, scale, d);
  over_pieces(*d, pool, [&](int, int channel, ptrdiff_t at, const fake_quantize_dims& piece) {
    f32::fake_quantize_ref(y + at, x + at, scale + channel, &piece);
  });
}

void grad_fast(float* dx, float* dscale, const float* dy, const float* x, const float* scale,
               void* workspace, const fake_quantize_dims* d, parallel::ThreadPool& pool) {
  if (is_by_column(*d)) return f32::fake_quantize_grad_ref(dx, dscale, dy, x, scale, d);
  const Pieces pieces(*d);
  simd::Workspace arrays(workspace);
  auto* const sums = arrays.take<float>(pieces.count);
  over_pieces(*d, pool, [&](int p, int channel, ptrdiff_t at, const fake_quantize_dims& piece) {
    f32::fake_quantize_grad_ref(dx + at, sums + p, dy + at, x + at, scale + channel, &piece);
  });
  for (int c = 0; c < d->channels; ++c) {
    double sum = 0.0;
    for (int o = 0; o < d->outer; ++o) {
      const int first = (o * d->channels + c) * pieces.of_channel;
      for (int p = first; p < first + pieces.of_channel; ++p) sum += static_cast<double>(sums[p]);
    }
    dscale[c] = static_cast<float>(sum);
  }
}

int64_t grad_workspace(const ir::Params& params, int /*threads*/) {
  const auto d = params.as<fake_quantize_dims>();
  simd::Workspace counter(nullptr);
  counter.take<float>(is_by_column(d) ? 0 : Pieces(d).count);
  return counter.bytes();
}

// Scales of rows count samples, too: cutting x alone cuts what they mean.
ir::Samples samples(const ir::SamplesContext& c) {
  const auto& a = c.attrs.as<FakeQuantizeAttrs>();
  const size_t last = c.inputs.size() - 1;  // the scale
  if (c.in(static_cast<int>(last)) == Shape{1} && !c.counted[last]) {
    return ir::Samples::independent;
  }
  return samples_along(c, a.axis);
}

const OpDef& fake_quantize_grad_op() {
  static const OpDef def{
      .name = "fake_quantize_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradients of fake_quantize: dx = dy within the bounds, else 0; dscale = the "
                 "sum of dy times the bound beyond it, and times round(x / scale) - x / scale "
                 "inside.",
          .inputs = {{"dy", "the shape of x"}, {"x", "any shape"}, {"scale", "[1] or [C]"}},
          .outputs = {{"dx", "the shape of x"}, {"dscale", "[1] or [C]"}},
          .attrs = ir::Attrs::schema_of<FakeQuantizeAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 1, 2);
        c.require(c.input(0) == c.input(1), "expected dy of the type of x");
        return {c.input(1), c.input(2)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.attrs, c.in(1), c.in(2));
          },
          .workspace = grad_workspace,
          .ref = ir::kernel_fn<&f32::fake_quantize_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::fake_quantize_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.samples = samples},
  };
  return def;
}

const OpDef& fake_quantize_op() {
  static const OpDef def{
      .name = "fake_quantize",
      .signature{
          .doc = "Numbers rounded to the steps of integers, with a gradient: y = scale * "
                 "(clamp(round(x / scale) + zero_point, low, high) - zero_point), halves to even. "
                 "The gradient of x passes within the bounds; that of the scale is that of "
                 "Learned Step Size Quantization (Esser et al., 2020). Equal to "
                 "torch.fake_quantize_per_tensor_affine, with the gradient of x.",
          .example = "auto y = fake_quantize(x, scale, {.zero_point = -128});",
          .inputs = {{"x", "any shape"},
                     {"scale", "[1], or [C] for C indices of the axis; above 0"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<FakeQuantizeAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check(c, 0, 1);
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const Value inputs[] = {c.grad(), c.input(0), c.input(1)};
        return c.grad().graph().add(fake_quantize_grad_op(), c.attrs, inputs);
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return dims_of(c.attrs, c.in(0), c.in(1));
          },
          .ref = ir::kernel_fn<&f32::fake_quantize_ref>(),
          .ref64 = ir::kernel_fn<&f64::fake_quantize_ref>(),
          .fast = ir::kernel_fn<&fast>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples = samples},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::fake_quantize_impl

THIMBLE_OP_FOLDER(fake_quantize) {
  static const OpDef* const defs[] = {&fake_quantize_op(), &fake_quantize_grad_op()};
  return defs;
}

namespace thimble {

void describe(FakeQuantizeAttrs& a, ir::FieldVisitor& v) {
  v.field("zero_point", a.zero_point, "the integer that stands for 0, from low to high");
  v.field("low", a.low, "least integer");
  v.field("high", a.high, "largest integer");
  v.field("axis", a.axis, "of x, which several scales count");
  v.field("parts", a.parts,
          "x is the mean of this many whole steps, up to the rounding of f32: x / scale is first "
          "rounded to multiples of 1 / parts");
}

Value fake_quantize(Value x, Value scale, const FakeQuantizeAttrs& attrs) {
  return x.graph().add1(ops::fake_quantize_impl::fake_quantize_op(), ir::Attrs::of(attrs),
                        {x, scale});
}

}  // namespace thimble
