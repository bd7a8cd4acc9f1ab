#include "ops/families/unary/select_16bit.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "ir/element.h"
#include "ops/families/widen/narrow_call.h"
#include "parallel/thread_pool.h"

#ifndef THIMBLE_OPS_SELECT_16BIT_ONCE_
#define THIMBLE_OPS_SELECT_16BIT_ONCE_
namespace thimble::ops {

// Bits as signed numbers: positive ones grow with the value, negative ones fall from -0 to
// -infinity and then NaN.
struct SelectBits {
  int16_t after_infinity;  // these two numbers are the first NaN
  int16_t after_minus_infinity;
  int16_t before_ceiling;  // NaN: there is no ceiling
};

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// n elements; dx may be dy or y.
void select_16bit_target(int16_t* dx, const int16_t* dy, const int16_t* y, int64_t n,
                         const SelectBits& bits) {
  const hn::ScalableTag<int16_t> d;
  const auto nan = hn::Set(d, bits.after_infinity);
  const auto minus_nan = hn::Set(d, bits.after_minus_infinity);
  const auto before_ceiling = hn::Set(d, bits.before_ceiling);
  const auto selected = [=](const int16_t* from, const int16_t* kept) HWY_ATTR {
    const auto k = hn::LoadU(d, kept);
    const auto below = hn::Or(hn::Eq(k, hn::Zero(d)), hn::Lt(k, minus_nan));
    const auto above = hn::And(hn::Gt(k, before_ceiling), hn::Lt(k, nan));
    return hn::IfThenZeroElse(hn::Or(below, above), hn::LoadU(d, from));
  };
  constexpr int kLanes = HWY_LANES(int16_t);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(selected(dy + i, y + i), d, dx + i);
  if (i == n) return;
  const auto bytes = static_cast<size_t>(n - i) * sizeof(int16_t);
  alignas(64) int16_t from[kLanes] = {};
  alignas(64) int16_t kept[kLanes] = {};
  std::memcpy(from, dy + i, bytes);
  std::memcpy(kept, y + i, bytes);
  hn::Store(selected(from, kept), d, from);
  std::memcpy(dx + i, from, bytes);
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(select_16bit_target);

namespace {

constexpr int64_t kTile = 32768;  // in elements

void select_16bit(const ir::KernelCall& call, float ceiling, bool has_ceiling) {
  const NarrowCall narrow(call);
  const bool brain = narrow.is_brain(0);
  const int infinity = brain ? 0x7f80 : 0x7c00;
  const int limit = brain ? element_float_to_bf16(ceiling) : element_float_to_f16(ceiling);
  const SelectBits bits{static_cast<int16_t>(infinity + 1),
                        static_cast<int16_t>(infinity + 1 - 0x8000),
                        static_cast<int16_t>(has_ceiling ? limit - 1 : 0x7fff)};
  auto* const dx = static_cast<int16_t*>(call.outputs[0]);
  const auto* const dy = static_cast<const int16_t*>(call.inputs[0]);
  const auto* const y = static_cast<const int16_t*>(call.inputs[1]);
  const int64_t n = narrow.elements(0);
  call.pool->run((n + kTile - 1) / kTile, [=](int64_t tile) {
    const int64_t first = tile * kTile;
    HWY_DYNAMIC_DISPATCH(select_16bit_target)
    (dx + first, dy + first, y + first, std::min(kTile, n - first), bits);
  });
}

}  // namespace

void select_above_zero_16bit(const ir::KernelCall& call) { select_16bit(call, 0.0F, false); }

void select_between_16bit(const ir::KernelCall& call, float ceiling) {
  select_16bit(call, ceiling, true);
}

}  // namespace thimble::ops
#endif
