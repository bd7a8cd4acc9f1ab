#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

// The test whose result a bit records, for an element x.
enum class BitTest : uint8_t {
  above,         // x > low
  above_or_nan,  // not x <= low (true for NaN)
  inside,        // neither x <= low nor x >= high (true for NaN)
  within,        // neither x < low nor x > high (true for NaN)
  outside,       // not low <= x <= high (true for NaN)
};

struct ActivationBitsAttrs {
  BitTest test = BitTest::above;
  double low = 0.0;
  double high = 0.0;  // used by the tests that name it
};
void describe(ActivationBitsAttrs& attrs, ir::FieldVisitor& visitor);

// One bit per element: whether it passes the test. x: any shape, f32; the result has its shape and
// type boolean, with the first element in the lowest bit of the first byte. It is a bit mask for
// the gradients of activations such as relu, and takes 1/32 of the memory of x.
Value activation_bits(Value x, const ActivationBitsAttrs& attrs);

struct GradByBitsAttrs {
  double slope = 0.0;  // factor where the bit is not set; 0: no gradient there
};
void describe(GradByBitsAttrs& attrs, ir::FieldVisitor& visitor);

// dx = dy where the bit is set, else slope * dy. dy: f32; bits: boolean; of one shape.
Value grad_by_bits(Value dy, Value bits, const GradByBitsAttrs& attrs = {});

}  // namespace thimble
