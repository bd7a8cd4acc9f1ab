// Tests of ops that make another op's output again (OpDef::rebuild).
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/op_def.h"

namespace thimble::test {

// Cases of the op that makes output 0 again, from cases of the op that made it and the rule's list
// of inputs: inputs of the cases, or ~i for their output i.
inline std::vector<OpCase> rebuild_cases(std::vector<OpCase> cases,
                                         const std::vector<int>& sources) {
  for (OpCase& test : cases) {
    std::vector<TensorSpec> inputs;
    for (const int source : sources) {
      inputs.push_back(source >= 0
                           ? test.inputs[static_cast<size_t>(source)]
                           : TensorSpec{.shape = test.expect[static_cast<size_t>(~source)]});
    }
    test.inputs = std::move(inputs);
    test.expect.resize(1);
    test.no_cotangent.clear();
  }
  return cases;
}

// Output 0 of an op on random numbers has the same bits when it is made again by the op's rule.
inline void expect_rebuilt(const char* name, const OpCase& test) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-2.0F, 3.0F);
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : test.inputs) {
    if (spec.absent) {
      inputs.push_back({.type = {}, .bytes = {}, .absent = true});
      continue;
    }
    std::vector<float> values(static_cast<size_t>(spec.shape.elements()));
    for (float& value : values) value = uniform(random);
    inputs.push_back(tensor(spec.shape, values));
  }
  const ir::OpDef* op = ir::find_op(name);
  const ir::RebuildRule rule = op->rebuild(test.attrs);
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const std::vector<exec::Bytes> first = run_op(name, test.attrs, inputs, kernel);
    std::vector<Tensor> again;
    for (const int source : rule.inputs) {
      if (source < 0) {
        const auto output = static_cast<size_t>(~source);
        again.push_back(tensor(DType::f32, test.expect[output], first[output]));
      } else {
        again.push_back(inputs[static_cast<size_t>(source)]);
      }
    }
    EXPECT_EQ(run_op(rule.op->name, rule.attrs, again, kernel)[0], first[0]) << test.name;
  }
}

}  // namespace thimble::test
