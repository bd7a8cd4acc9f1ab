#include <hwy/highway.h>

#include "ops/families/binary/binary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::add_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

BINARY_SIMD(add, hn::Add(a, b))

}  // namespace thimble::ops::add_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

BINARY_SIMD_EXPORT(add)
