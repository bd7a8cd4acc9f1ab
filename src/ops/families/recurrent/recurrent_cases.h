// Test cases of the ops that run a recurrent layer over all steps.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/recurrent/recurrent.h"

namespace thimble::test {

struct ScanSizes {
  int64_t n, t, units;
};

// The inputs of a scan: x and the state's weights, then two optional ones.
inline std::vector<TensorSpec> scan_inputs(const ScanSizes& z, int64_t gates, const Shape& third,
                                           bool has_third, bool has_fourth) {
  return {{.shape = {z.n, z.t, gates * z.units}},
          {.shape = {gates * z.units, z.units}},
          {.shape = third, .absent = !has_third},
          {.shape = {z.n, z.units}, .absent = !has_fourth}};
}

// The cases of every scan: sizes, directions, and combinations of the two optional inputs.
template <class Scan>
std::vector<OpCase> scan_cases(const Scan& scan) {
  const auto named = [&](const char* name, const ScanSizes& z, bool reverse, bool third,
                         bool fourth) {
    OpCase test = scan(z, third, fourth);
    test.name = name;
    test.attrs = ir::Attrs::of(ops::ScanAttrs{.reverse = reverse});
    return test;
  };
  return {named("plain", {2, 4, 3}, false, false, false),
          named("with_both", {2, 4, 3}, false, true, true),
          named("with_the_third", {1, 3, 2}, false, true, false),
          named("with_the_fourth", {1, 3, 2}, false, false, true),
          named("reverse", {2, 4, 3}, true, false, false),
          named("reverse_with_both", {3, 4, 5}, true, true, true),
          named("one_step", {1, 1, 2}, false, false, false),
          named("one_step_with_both", {1, 1, 2}, true, true, true),
          named("one_unit", {3, 5, 1}, false, true, true),
          named("no_batch", {0, 3, 2}, false, true, true),
          named("many_sequences", {19, 3, 70}, false, true, true)};
}

// Checks zoneout with probability 1/2. The cell gets x, [1, 1], a state of 64 elements of 0.7, and
// weights 0; about half of the elements must be `next`, the others unchanged.
inline void check_zoneout(const std::function<Value(Value x, Value h)>& cell, float next) {
  Graph g;
  const Value x = g.constant("x", {1, 1}, {1.0F});
  const Value h = g.constant("h", {1, 64}, std::vector<float>(64, 0.7F));
  const Value after = cell(x, h);
  for (ir::ValueData& value : g.ir().values) {
    if (value.role != ir::Role::parameter) continue;
    value.role = ir::Role::constant;
    value.data = Array(DType::f32, value.type.shape);
  }
  int stayed = 0;
  for (const float value : evaluate(after, std::vector<uint32_t>{7, 0, 1, 0})) {
    if (std::abs(value - 0.7F) < 1e-6F) {
      ++stayed;
    } else {
      EXPECT_NEAR(value, next, 1e-6F);
    }
  }
  EXPECT_GT(stayed, 16);
  EXPECT_LT(stayed, 48);
}

}  // namespace thimble::test
