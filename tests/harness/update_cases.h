// Cases of the ops that are optimizers' rules: their inputs follow from the settings.
#pragma once

#include <thimble/optimizers.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/op_cases.h"
#include "ir/optimizer_value.h"

namespace thimble::test {

// Where the numbers of a state lie; left out: [0.01, 1).
using StateRanges = std::vector<std::pair<double, double>>;

inline OpCase update_case(std::string name, const Shape& shape, const Optimizer& optimizer,
                          const StateRanges& ranges = {}, double step = 3) {
  OpCase test{.name = std::move(name), .attrs = optimizer.value().settings};
  test.inputs = {{.shape = shape, .state = true},
                 {.shape = shape},
                 {.shape = {}, .low = 0.1, .high = 0.5},
                 {.shape = {}, .dtype = DType::i32, .low = step, .high = step}};
  test.expect = {shape};
  const ir::OptimizerRule& rule = optimizer.value().op->optimizer;
  size_t number = 0;
  for (const ir::StateSpec& spec : rule.states(optimizer.value().settings, shape)) {
    TensorSpec state{.shape = spec.type.shape, .dtype = spec.type.dtype, .state = true};
    const bool given = number < ranges.size();
    state.low = given ? ranges[number].first : 0.01;
    state.high = given ? ranges[number].second : 1.0;
    test.inputs.push_back(state);
    test.expect.push_back(spec.type.shape);
    ++number;
  }
  return test;
}

// The last state of a case left out, which every rule must refuse.
inline RejectCase without_last_state(OpCase test, const char* error = "is missing") {
  test.inputs.pop_back();
  return {.name = "missing_state", .inputs = test.inputs, .attrs = test.attrs, .error = error};
}

}  // namespace thimble::test
