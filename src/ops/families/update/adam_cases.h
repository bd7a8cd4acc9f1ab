// Test cases of the updates of Adam and AdamW.
#pragma once

#include "harness/update_cases.h"

namespace thimble::test {

inline std::vector<TensorSpec> adam_inputs(const Shape& shape, bool amsgrad, double step) {
  std::vector<TensorSpec> specs = {
      {.shape = shape, .state = true},
      {.shape = shape},
      {.shape = {}, .low = 0.1, .high = 0.5},
      {.shape = {}, .dtype = DType::i32, .low = step, .high = step},
      {.shape = shape, .state = true},
      {.shape = shape, .low = 0.01, .high = 1.0, .state = true},
  };
  if (amsgrad) specs.push_back({.shape = shape, .low = 0.01, .high = 1.0, .state = true});
  return specs;
}

template <class Settings>
OpCase adam_quantized(const char* name, const Shape& shape, Settings settings, double step = 5) {
  // Arbitrary codes, and scales above 0.
  const StateRanges states = {{0, 255}, {0, 255}, {0.1, 1.0}, {0.1, 1.0}};
  settings.state_bits = 8;
  settings.min_8bit_size = 1;
  OpCase test = update_case(name, shape, settings, states, step);
  test.codes = true;
  return test;
}

// Settings: Adam or AdamW.
template <class Settings>
OpCases adam_cases() {
  const auto attrs = [](const Settings& settings) { return ir::Attrs::of(settings); };
  return {
      .cases = {{.name = "plain",
                 .inputs = adam_inputs({3, 7}, false, 1),
                 .expect = {{3, 7}, {3, 7}, {3, 7}}},
                {.name = "scalar", .inputs = adam_inputs({}, false, 2)},
                {.name = "empty", .inputs = adam_inputs({0}, false, 2)},
                {.name = "late_step", .inputs = adam_inputs({19}, false, 100000)},
                {.name = "weight_decay_up",
                 .inputs = adam_inputs({33}, false, 5),
                 .attrs = attrs({.weight_decay = 0.1, .maximize = true})},
                {.name = "epsilon_hat",
                 .inputs = adam_inputs({21}, false, 3),
                 .attrs = attrs({.epsilon = 0.1, .epsilon_hat = true})},
                {.name = "amsgrad_over_many_tiles",
                 .inputs = adam_inputs({70001}, true, 7),
                 .attrs = attrs({.beta1 = 0.8,
                                 .beta2 = 0.95,
                                 .epsilon = 1e-3,
                                 .weight_decay = 0.01,
                                 .amsgrad = true}),
                 .expect = {{70001}, {70001}, {70001}, {70001}}},
                adam_quantized<Settings>("eight_bits", {3, 7}, {}),
                adam_quantized<Settings>("eight_bits_of_a_scalar", {}, {}, 1),
                adam_quantized<Settings>("eight_bits_of_whole_blocks", {2, 256}, {}),
                adam_quantized<Settings>("eight_bits_over_many_tiles", {17001},
                                         {.beta1 = 0.8,
                                          .beta2 = 0.95,
                                          .epsilon = 1e-3,
                                          .weight_decay = 0.1,
                                          .maximize = true})},
      .rejects = {without_last_state(adam_quantized<Settings>("", {300}, {}), "state tensors, got"),
                  {.name = "missing_maximum",
                   .inputs = adam_inputs({2}, false, 1),
                   .attrs = attrs({.amsgrad = true}),
                   .error = "need 3 state tensors, got 2"}},
  };
}

// Settings: Adam or AdamW.
template <class Settings>
OpCases adam_integer_cases(bool residual) {
  OpCases table{.cases = integer_cases(Settings{.weight_decay = 0.1}, residual),
                .rejects = integer_rejects(Settings{}, residual)};
  table.cases.push_back(integer_case("amsgrad", {70}, Settings{.amsgrad = true, .maximize = true},
                                     {.residual = residual}));
  // Second moments well above 0, so that no bias leaves int8.
  const StateRanges states{{0, 255}, {200, 255}, {1.0, 1.0}, {1.0, 1.0}};
  const auto coded = [&](const char* name, const Shape& shape, IntegerSetting setting) {
    setting.residual = residual;
    setting.ranges = states;
    return integer_case(
        name, shape, Settings{.weight_decay = 0.1, .state_bits = 8, .min_8bit_size = 1}, setting);
  };
  table.cases.push_back(coded("eight_bits", {3, 7}, {}));
  table.cases.push_back(coded("eight_bits_of_whole_blocks", {4, 256}, {.units = {Shape{4, 1}}}));
  table.cases.push_back(coded("eight_bits_of_many", {17, 301}, {.units = {Shape{17, 1}}}));
  table.cases.push_back(
      coded("eight_bits_of_biases", {1500}, {.dtype = DType::i32, .units = {Shape{1500}}}));
  table.rejects.push_back(without_last_state(coded("", {300}, {}), "state tensors, got"));
  return table;
}

}  // namespace thimble::test
