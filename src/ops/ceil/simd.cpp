#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::ceil_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Some targets lose the sign of 0.
UNARY_SIMD(ceil, hn::CopySign(hn::Ceil(x), x))

}  // namespace thimble::ops::ceil_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT_LINEAR(ceil)
