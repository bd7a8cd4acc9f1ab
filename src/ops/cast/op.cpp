#include <thimble/ops/cast.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "ir/graph.h"
#include "ops/cast/dims.h"
#include "ops/storage_16bit/simd.h"

#define THIMBLE_OP cast
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::cast_impl {
namespace {

struct CastAttrs {
  DType dtype = DType::f32;
};

void describe(CastAttrs& a, ir::FieldVisitor& v) {
  v.field("dtype", a.dtype, "the type of the result");
}

constexpr int kTile = 16384;  // in elements; whole bytes of packed types

// The nearest number that the type can hold, as in element_convert.
template <class To, class From>
To cast_one(From value) {
  if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_integral_v<From>) {
    using Limits = std::numeric_limits<To>;
    return static_cast<To>(std::clamp<int64_t>(value, Limits::min(), Limits::max()));
  } else {
    using Limits = std::numeric_limits<To>;
    if (value != value) return 0;
    return static_cast<To>(std::clamp(static_cast<double>(value),
                                      static_cast<double>(Limits::min()),
                                      static_cast<double>(Limits::max())));
  }
}

// One loop for each pair of the usual types, which compilers vectorize.
template <class To, class From>
void cast_tile(void* y, const void* x, int64_t begin, int64_t end) {
  To* const to = static_cast<To*>(y);
  const From* const from = static_cast<const From*>(x);
  for (int64_t i = begin; i < end; ++i) to[i] = cast_one<To>(from[i]);
}

using Tile = void (*)(void*, const void*, int64_t, int64_t);

template <class To>
Tile tile_from(int from) {
  switch (from) {
    case ELEMENT_F32:
      return cast_tile<To, float>;
    case ELEMENT_I32:
      return cast_tile<To, int32_t>;
    case ELEMENT_U32:
      return cast_tile<To, uint32_t>;
    case ELEMENT_I8:
      return cast_tile<To, int8_t>;
    case ELEMENT_U8:
      return cast_tile<To, uint8_t>;
    default:
      return nullptr;
  }
}

// Null for other pairs.
Tile usual_tile(int to, int from) {
  switch (to) {
    case ELEMENT_F32:
      return tile_from<float>(from);
    case ELEMENT_I32:
      return tile_from<int32_t>(from);
    case ELEMENT_U32:
      return tile_from<uint32_t>(from);
    case ELEMENT_I8:
      return tile_from<int8_t>(from);
    case ELEMENT_U8:
      return tile_from<uint8_t>(from);
    default:
      return nullptr;
  }
}

bool is_half(int type) { return type == ELEMENT_F16 || type == ELEMENT_BF16; }

void fast(unsigned char* y, const unsigned char* x, const cast_dims* d,
          parallel::ThreadPool& pool) {
  if (d->from == ELEMENT_F32 && is_half(d->to)) {
    const bits16_dims half{d->n, d->to == ELEMENT_BF16 ? 1 : 0};
    storage_16bit_impl::to_16bit_simd(reinterpret_cast<uint16_t*>(y),
                                      reinterpret_cast<const float*>(x), &half, pool);
    return;
  }
  if (is_half(d->from) && d->to == ELEMENT_F32) {
    const bits16_dims half{d->n, d->from == ELEMENT_BF16 ? 1 : 0};
    storage_16bit_impl::from_16bit_simd(reinterpret_cast<float*>(y),
                                        reinterpret_cast<const uint16_t*>(x), &half, pool);
    return;
  }
  if (d->n > 0 && (d->to == ELEMENT_BOOL || d->to == ELEMENT_I4)) {
    y[d->bytes - 1] = 0;  // its last bits may stand for nothing
  }
  const Tile usual = usual_tile(d->to, d->from);
  pool.run((d->n + kTile - 1) / kTile, [=](int64_t tile) {
    const int64_t begin = tile * kTile;
    const int64_t end = std::min<int64_t>(d->n, begin + kTile);
    if (usual != nullptr) return usual(y, x, begin, end);
    for (int64_t i = begin; i < end; ++i) element_convert(y, d->to, x, d->from, i);
  });
}

const OpDef& cast_op() {
  static const OpDef def{
      .name = "cast",
      .signature{
          .doc = "x with elements of another type. To integers: towards 0, then the nearest that "
                 "the type can hold, NaN becomes 0. To floating point: to the nearest, ties to "
                 "even. To bool: whether x differs from 0.",
          .example = "auto pixels = cast(bytes, DType::f32);",
          .inputs = {{"x", "any shape"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<CastAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {{c.attrs.as<CastAttrs>().dtype, c.shape(0)}};
      },
      // The gradient ignores rounding.
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
                  if (!is_floating(c.input(0).dtype())) return {Value()};
                  return {c.grad()};  // brought to the type of x by whoever asks
                },
                .to_type = [](DType dtype) { return ir::Attrs::of(CastAttrs{dtype}); }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const ir::TensorType& y = c.outputs[0];
            return cast_dims{static_cast<int>(y.shape.elements()),
                             static_cast<int>(size_bytes(y.dtype, y.shape)),
                             static_cast<int>(c.inputs[0]->dtype), static_cast<int>(y.dtype)};
          },
          .ref = ir::kernel_fn<&f32::cast_ref>(),
          .ref64 = ir::kernel_fn<&f64::cast_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::cast_impl

THIMBLE_OP_FOLDER(cast) {
  static const OpDef* const defs[] = {&cast_op()};
  return defs;
}

namespace thimble {
Value cast(Value x, DType dtype) {
  return x.graph().add1(ops::cast_impl::cast_op(), ir::Attrs::of(ops::cast_impl::CastAttrs{dtype}),
                        {x});
}
}  // namespace thimble
