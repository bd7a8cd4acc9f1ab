// Test cases of ops of two tensors of other types than f32 alone.
#pragma once

#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// of(name, a, b, y): a case of operands of these shapes.
template <class F>
std::vector<OpCase> two_tensor_cases(const F& of) {
  return {of("one_shape", {3, 7}, {3, 7}, {3, 7}),
          of("row", {5, 19}, {19}, {5, 19}),
          of("both", {3, 1, 5}, {4, 1}, {3, 4, 5}),
          of("column", {5, 19}, {5, 1}, {5, 19}),
          of("scalars", {}, {}, {}),
          of("long_vectors", {40001}, {}, {40001}),
          of("empty", {0, 3}, {3}, {0, 3})};
}

}  // namespace thimble::test
