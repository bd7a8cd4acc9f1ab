// Test cases of ops that draw random numbers.
#pragma once

#include <limits>

#include "harness/op_cases.h"

namespace thimble::test {

// The random state: any words.
inline TensorSpec random_state(int64_t words = 6) {
  return {.shape = {words},
          .dtype = DType::u32,
          .low = 0,
          .high = std::numeric_limits<uint32_t>::max()};
}

// attrs: with the shape of the result. tolerance: fast against reference.
template <class Attrs>
OpCase draw_case(const char* name, const Attrs& attrs, double tolerance) {
  return {.name = name,
          .inputs = {random_state()},
          .attrs = ir::Attrs::of(attrs),
          .expect = {attrs.shape},
          .tolerance = tolerance};
}

// An op whose attributes are refused, and one whose state is too short.
inline RejectCase draw_reject(const char* name, const ir::Attrs& attrs, const char* error) {
  return {name, {random_state()}, attrs, error};
}
inline RejectCase short_state_reject(const ir::Attrs& attrs) {
  return {"short_state", {random_state(2)}, attrs, "random state of 6 words"};
}

}  // namespace thimble::test
