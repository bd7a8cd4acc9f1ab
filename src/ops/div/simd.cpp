#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::div_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

BINARY_SIMD(div, hn::Div(a, b))

}  // namespace thimble::ops::div_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(div)
