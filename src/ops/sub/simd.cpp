#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::sub_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

BINARY_SIMD(sub, hn::Sub(a, b))

}  // namespace thimble::ops::sub_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(sub)
