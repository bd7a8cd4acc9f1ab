#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// The test of an element x that a bit records.
enum class BitTest : uint8_t {
  above,         // x > low
  above_or_nan,  // not x <= low
  inside,        // neither x <= low nor x >= high; NaN counts
  within,        // neither x < low nor x > high; NaN counts
  outside,       // not low <= x <= high; NaN counts
};

struct ActivationBitsAttrs {
  BitTest test = BitTest::above;
  double low = 0.0;
  double high = 0.0;  // of the tests that name it
};

// One bit an element: whether it passes the test. x: any shape, f32; returns its shape, boolean,
// the first element in the lowest bit of the first byte. A bit mask for the gradients of relu and
// its like, in a thirty-second of the memory.
Value activation_bits(Value x, const ActivationBitsAttrs& attrs);

struct GradByBitsAttrs {
  double slope = 0.0;  // where the bit is not set; 0: no gradient passes there
};

// dx = dy where the bit is set, else slope * dy. dy: f32; bits: boolean; of one shape.
Value grad_by_bits(Value dy, Value bits, const GradByBitsAttrs& attrs = {});

}  // namespace thimble
