#include <gtest/gtest.h>

#include <vector>

#include "harness/op_run.h"
#include "harness/update_cases.h"

namespace thimble::test::muon_update_test {

// The iteration triples the rounding of every step in the small singular values.
constexpr double kIterationTolerance = 2e-4;

THIMBLE_OP_CASES(muon_update) {
  const StateRanges matrix = {{-1.0, 1.0}};
  const StateRanges moments = {{-1.0, 1.0}, {0.01, 1.0}};
  const auto of = [](const char* name, const Shape& shape, const Muon& settings,
                     const StateRanges& states) {
    OpCase made = update_case(name, shape, settings, states);
    made.tolerance = kIterationTolerance;
    return made;
  };
  return {
      .cases = {of("wide", {3, 7}, {}, matrix), of("tall", {70, 9}, {}, matrix),
                of("square", {33, 33}, {.nesterov = false, .ns_steps = 2}, matrix),
                of("one_row", {1, 5}, {.match_rms_adamw = true}, matrix),
                of("large", {130, 150},
                   {.weight_decay = 0.5, .momentum = 0.5, .ns_a = 2.0, .ns_b = -1.5, .ns_c = 0.5},
                   matrix),
                of("vector", {19}, {}, moments), of("scalar", {}, {}, moments),
                of("images", {4, 3, 3, 2}, {.adamw_weight_decay = 0.1}, moments),
                of("empty", {0, 3}, {}, matrix), of("long_vector", {70001}, {}, moments)},
      .rejects = {without_last_state(of("", {2}, {}, moments), "state tensors, got"),
                  {.name = "no_steps",
                   .inputs = of("", {2, 2}, {}, matrix).inputs,
                   .attrs = ir::Attrs::of(Muon{.ns_steps = 0}),
                   .error = "ns_steps must be 1 to 99"}},
  };
}

TEST(muon_update, takes_a_step_that_is_nearly_orthogonal) {
  constexpr int kRows = 4;
  constexpr int kColumns = 6;
  std::vector<float> gradient(kRows * kColumns);
  for (size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<float>(i * i * 7919 % 101) - 50.0F;
  }
  const std::vector<float> zeros(gradient.size(), 0.0F);
  const Shape shape{kRows, kColumns};
  const auto out = run_op("muon_update", ir::Attrs::of(Muon{}),
                          {tensor(shape, zeros), tensor(shape, gradient), tensor({}, {1.0F}),
                           tensor<int32_t>(DType::i32, {}, {1}), tensor(shape, zeros)},
                          Kernel::fast);
  const std::vector<float> step = values_of<float>(out[0]);
  // The singular values of the step are 0.5 to 1.5, and so are the squares' sums on the average.
  double squares = 0.0;
  for (const float s : step) squares += static_cast<double>(s) * s;
  EXPECT_GT(squares / kRows, 0.4);
  EXPECT_LT(squares / kRows, 1.6);
}

}  // namespace thimble::test::muon_update_test
