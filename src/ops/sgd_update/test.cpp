#include "harness/update_cases.h"

namespace thimble::test::sgd_update_test {
namespace {

std::vector<TensorSpec> inputs(const Shape& shape, bool momentum, double step = 3) {
  std::vector<TensorSpec> specs = {
      {.shape = shape, .state = true},
      {.shape = shape},
      {.shape = {}, .low = 0.1, .high = 0.5},
      {.shape = {}, .dtype = DType::i32, .low = step, .high = step},
  };
  if (momentum) specs.push_back({.shape = shape, .state = true});
  return specs;
}

ir::Attrs attrs(const SGD& options) { return ir::Attrs::of(options); }

// Arbitrary codes, and scales above 0.
const StateRanges kCodes = {{0, 255}, {0.1, 1.0}};

OpCase coded(const char* name, const Shape& shape, SGD settings, double step = 5) {
  settings.state_bits = 8;
  settings.min_8bit_size = 1;
  OpCase test = update_case(name, shape, settings, kCodes, step);
  test.codes = true;
  return test;
}

}  // namespace

THIMBLE_OP_CASES(sgd_update) {
  return {
      .cases = {coded("eight_bits", {3, 7}, {.momentum = 0.9}),
                coded("eight_bits_first_step", {19}, {.momentum = 0.9, .dampening = 0.5}, 1),
                coded("eight_bits_of_a_scalar", {}, {.momentum = 0.9}),
                coded("eight_bits_of_whole_blocks", {2, 256}, {.momentum = 0.9}),
                coded("eight_bits_over_many_tiles", {17001},
                      {.momentum = 0.8, .dampening = 0.1, .weight_decay = 0.1, .maximize = true}),
                coded("eight_bits_nesterov", {700}, {.momentum = 0.9, .nesterov = true}),
                with_momentum(update_case("scheduled_momentum", {19}, SGD{.momentum = 0.9}),
                              SGD{.momentum = 0.9}),
                {.name = "plain", .inputs = inputs({3, 7}, false), .expect = {{3, 7}}},
                {.name = "scalar", .inputs = inputs({}, false)},
                {.name = "empty", .inputs = inputs({0}, false)},
                {.name = "weight_decay_up",
                 .inputs = inputs({33}, false),
                 .attrs = attrs({.weight_decay = 0.1, .maximize = true})},
                {.name = "first_step",
                 .inputs = inputs({5}, true, 1),
                 .attrs = attrs({.momentum = 0.9, .dampening = 0.5}),
                 .expect = {{5}, {5}}},
                {.name = "later_step",
                 .inputs = inputs({5, 3}, true),
                 .attrs = attrs({.momentum = 0.9, .dampening = 0.5})},
                {.name = "nesterov_over_many_tiles",
                 .inputs = inputs({70001}, true),
                 .attrs = attrs({.momentum = 0.9, .nesterov = true, .weight_decay = 0.01})}},
      .rejects = {{.name = "missing_buffer",
                   .inputs = inputs({2}, false),
                   .attrs = attrs({.momentum = 0.9}),
                   .error = "need 1 state tensors, got 0"},
                  {.name = "needless_buffer",
                   .inputs = inputs({2}, true),
                   .error = "need 0 state tensors, got 1"},
                  {.name = "gradient_of_another_shape",
                   .inputs = {{.shape = {2}, .state = true},
                              {.shape = {3}},
                              {.shape = {}},
                              {.shape = {}, .dtype = DType::i32}},
                   .error = "gradient of the parameter's shape"}},
  };
}

THIMBLE_OP_CASES(sgd_rows_update) {
  OpCases table{.cases = rows_cases(SGD{}), .rejects = rows_rejects(SGD{})};
  OpCase up = rows_case("up", 5, 3, 2, SGD{.maximize = true});
  table.cases.push_back(up);
  const OpCase momentum = rows_case("", 5, 3, 2, SGD{.momentum = 0.5});
  table.rejects.push_back({"momentum", momentum.inputs, momentum.attrs, "momentum reaches rows"});
  return table;
}

THIMBLE_OP_CASES(sgd_part_update) {
  OpCases table{.cases = part_cases(SGD{.momentum = 0.9, .weight_decay = 0.1}),
                .rejects = part_rejects(SGD{})};
  table.cases.push_back(part_case("plain", {5, 3}, {1, {0, 2}}, SGD{}));
  table.cases.push_back(
      with_momentum(part_case("scheduled_momentum", {3, 5}, {1, {2, 3}}, SGD{.momentum = 0.9}),
                    SGD{.momentum = 0.9}));
  return table;
}

namespace {

OpCases for_integers(bool residual) {
  OpCases table{.cases = integer_cases(SGD{.momentum = 0.9, .weight_decay = 0.1}, residual),
                .rejects = integer_rejects(SGD{}, residual)};
  table.cases.push_back(integer_case("up", {70}, SGD{.weight_decay = 0.1, .maximize = true},
                                     {.residual = residual, .units = {Shape{70}}}));
  const SGD small{.momentum = 0.9, .state_bits = 8, .min_8bit_size = 1};
  const IntegerSetting codes{.residual = residual, .units = {Shape{17, 1}}, .ranges = kCodes};
  table.cases.push_back(integer_case("eight_bits_of_many", {17, 301}, small, codes));
  table.rejects.push_back(without_last_state(
      integer_case("", {2}, SGD{.momentum = 0.9}, {.residual = residual}), "1 state tensors"));
  return table;
}

}  // namespace

THIMBLE_OP_CASES(sgd_rounded_update) { return for_integers(false); }
THIMBLE_OP_CASES(sgd_residual_update) { return for_integers(true); }

}  // namespace thimble::test::sgd_update_test
