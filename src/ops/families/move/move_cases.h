// Test cases of ops that move elements unchanged.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// x and y: shapes.
inline OpCase move_case(const std::string& name, const Shape& x, const ir::Attrs& attrs,
                        const Shape& y) {
  return {.name = name, .inputs = {{.shape = x}}, .attrs = attrs, .expect = {y}};
}

// Adds elements of 1, 2, 4 and 8 bytes and of one bit.
inline OpCases with_types(OpCases own, const Shape& x, const ir::Attrs& attrs, const Shape& y) {
  for (const DType dtype : {DType::u8, DType::i16, DType::i32, DType::i64, DType::boolean}) {
    own.cases.push_back(move_case(std::string("of_") + to_string(dtype), x, attrs, y));
    own.cases.back().inputs[0] = {.shape = x, .dtype = dtype, .low = 0, .high = 100};
  }
  return own;
}

}  // namespace thimble::test
