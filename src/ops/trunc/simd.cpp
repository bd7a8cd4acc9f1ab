#include <hwy/highway.h>

#include "ops/families/unary/unary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::trunc_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Some targets lose the sign of 0.
UNARY_SIMD(trunc, hn::CopySign(hn::Trunc(x), x))

}  // namespace thimble::ops::trunc_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

UNARY_SIMD_EXPORT_LINEAR(trunc)
