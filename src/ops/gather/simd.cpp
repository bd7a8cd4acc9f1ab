#include <hwy/highway.h>

#include "ops/families/indexed/indexed_dims.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::gather_impl::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void gather_words_target(int32_t* y, const int32_t* x, const int32_t* index, int32_t missing,
                         const indexed_dims& d) {
  const hn::ScalableTag<int32_t> words;
  const hn::RebindToUnsigned<decltype(words)> unsigned_words;
  const auto size = hn::Set(unsigned_words, static_cast<uint32_t>(d.size));
  const auto none = hn::Set(words, missing);
  const auto step = hn::Set(words, d.step);
  const auto stride = hn::Set(words, d.walk.stride[0]);
  const int lanes = static_cast<int>(hn::Lanes(words));
  const int whole = d.size > 0 ? d.walk.size[0] / lanes * lanes : 0;
  int i = 0;
  for (; i < whole; i += lanes) {
    const auto place = hn::LoadU(words, index + i);
    // A negative index becomes a large unsigned number, so one comparison checks both bounds.
    const auto found = hn::RebindMask(words, hn::Lt(hn::BitCast(unsigned_words, place), size));
    auto at = hn::IfThenElseZero(found, d.step == 1 ? place : hn::Mul(place, step));
    if (d.walk.stride[0] != 0) at = hn::Add(at, hn::Mul(hn::Iota(words, i), stride));
    hn::StoreU(hn::IfThenElse(found, hn::GatherIndex(words, x, at), none), words, y + i);
  }
  for (; i < d.walk.size[0]; ++i) {
    const int32_t place = index[i];
    const bool found = place >= 0 && place < d.size;
    y[i] = found ? x[ptrdiff_t{i} * d.walk.stride[0] + ptrdiff_t{place} * d.step] : missing;
  }
}

}  // namespace thimble::ops::gather_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::gather_impl {
HWY_EXPORT(gather_words_target);

void gather_words(int32_t* y, const int32_t* x, const int32_t* index, int32_t missing,
                  const indexed_dims& d) {
  HWY_DYNAMIC_DISPATCH(gather_words_target)(y, x, index, missing, d);
}

}  // namespace thimble::ops::gather_impl
#endif
