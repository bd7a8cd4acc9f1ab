#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::mul_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

BINARY_SIMD(mul, hn::Mul(a, b))

}  // namespace thimble::ops::mul_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(mul)
