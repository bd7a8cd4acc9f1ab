#include <thimble/ops/cast.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "ir/graph.h"
#include "ops/cast/attrs.h"
#include "ops/cast/dims.h"

#define THIMBLE_OP cast
#include "ops/families/builder/both_precisions.h"
#include "parallel/thread_pool.h"

namespace thimble::ops::cast_impl {
namespace {

// The kernels' number of a type, or -1.
int kind_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return CAST_REAL;
    case DType::i32:
      return CAST_I32;
    case DType::u32:
      return CAST_U32;
    case DType::i8:
      return CAST_I8;
    case DType::u8:
      return CAST_U8;
    default:
      return -1;
  }
}

// The nearest number that the type can hold, as cast_bounded says.
template <class To, class From>
To cast_one(From value) {
  if constexpr (std::is_same_v<To, float>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    using Limits = std::numeric_limits<To>;
    return static_cast<To>(f32::cast_bounded(static_cast<double>(value),
                                             static_cast<double>(Limits::min()),
                                             static_cast<double>(Limits::max())));
  }
}

// One loop for each pair of types, which compilers make vectors of.
template <class To, class From>
void cast_from(void* y, const void* x, int n, parallel::ThreadPool& pool) {
  constexpr int kTile = 16384;
  To* const to = static_cast<To*>(y);
  const From* const from = static_cast<const From*>(x);
  pool.run((n + kTile - 1) / kTile, [=](int64_t tile) {
    const int64_t end = std::min<int64_t>(n, (tile + 1) * kTile);
    for (int64_t i = tile * kTile; i < end; ++i) to[i] = cast_one<To>(from[i]);
  });
}

template <class To>
void cast_to(void* y, const void* x, const cast_dims& d, parallel::ThreadPool& pool) {
  using Cast = void (*)(void*, const void*, int, parallel::ThreadPool&);
  static constexpr Cast kFrom[] = {cast_from<To, float>, cast_from<To, int32_t>,
                                   cast_from<To, uint32_t>, cast_from<To, int8_t>,
                                   cast_from<To, uint8_t>};
  kFrom[d.from](y, x, d.n, pool);
}

void fast(unsigned char* y, const unsigned char* x, const cast_dims* d,
          parallel::ThreadPool& pool) {
  using Cast = void (*)(void*, const void*, const cast_dims&, parallel::ThreadPool&);
  static constexpr Cast kTo[] = {cast_to<float>, cast_to<int32_t>, cast_to<uint32_t>,
                                 cast_to<int8_t>, cast_to<uint8_t>};
  kTo[d->to](y, x, *d, pool);
}

const OpDef& cast_op() {
  static const OpDef def{
      .name = "cast",
      .signature{
          .doc = "x with elements of another type; numbers lose their fraction and become the "
                 "nearest that the type can hold, NaN becomes 0.",
          .example = "auto pixels = cast(bytes, DType::f32);",
          .inputs = {{"x", "any shape; f32, i32, u32, i8 or u8"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<CastAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        const DType to = c.attrs.as<CastAttrs>().dtype;
        c.require(to != DType::boolean, "expected a type to compute with; masks are u8: ne(x, 0)");
        c.require(kind_of(c.input(0).dtype) >= 0 && kind_of(to) >= 0,
                  "expected types among f32, i32, u32, i8 and u8");
        return {{to, c.shape(0)}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.input(0).dtype() == DType::f32 ? c.grad() : Value()};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return cast_dims{static_cast<int>(c.out().elements()), kind_of(c.inputs[0]->dtype),
                             kind_of(c.outputs[0].dtype)};
          },
          .ref = ir::kernel_fn<&f32::cast_ref>(),
          .ref64 = ir::kernel_fn<&f64::cast_ref>(),
          .fast = ir::kernel_fn<&fast>(),
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
  return x.graph().add1(ops::cast_impl::cast_op(), ir::Attrs::of(CastAttrs{dtype}), {x});
}
}  // namespace thimble
