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

}  // namespace

THIMBLE_OP_CASES(sgd_update) {
  return {
      .cases = {with_momentum(update_case("scheduled_momentum", {19}, SGD{.momentum = 0.9}),
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

THIMBLE_OP_CASES(sgd_rounded_update) {
  OpCases table{.cases = rounded_cases(SGD{.momentum = 0.9, .weight_decay = 0.1}),
                .rejects = rounded_rejects(SGD{})};
  table.cases.push_back(
      rounded_case("up", {70}, DType::i8, SGD{.weight_decay = 0.1, .maximize = true}));
  table.rejects.push_back(without_last_state(rounded_case("", {2}, DType::i8, SGD{.momentum = 0.9}),
                                             "1 state tensors"));
  return table;
}

}  // namespace thimble::test::sgd_update_test
