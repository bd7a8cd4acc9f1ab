#include "harness/update_cases.h"
#include "ops/adam_update/attrs.h"

namespace thimble::test {
namespace {

std::vector<TensorSpec> inputs(const Shape& shape, bool amsgrad, double step) {
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

ir::Attrs attrs(const Adam& options) { return ir::Attrs::of(options); }

// Codes of any kind, scales above 0.
const StateRanges kQuantized = {{0, 255}, {0, 255}, {0.1, 1.0}, {0.1, 1.0}};

OpCase quantized(const char* name, const Shape& shape, Adam settings, double step = 5) {
  settings.state_bits = 8;
  settings.min_8bit_size = 1;
  OpCase test = update_case(name, shape, settings, kQuantized, step);
  test.codes = true;
  return test;
}

}  // namespace

THIMBLE_OP_CASES(adam_update) {
  return {
      .cases = {with_momentum(update_case("scheduled_momentum", {19}, Adam{}), Adam{}),
                {.name = "plain",
                 .inputs = inputs({3, 7}, false, 1),
                 .expect = {{3, 7}, {3, 7}, {3, 7}}},
                {.name = "scalar", .inputs = inputs({}, false, 2)},
                {.name = "empty", .inputs = inputs({0}, false, 2)},
                {.name = "late_step", .inputs = inputs({19}, false, 100000)},
                {.name = "weight_decay_up",
                 .inputs = inputs({33}, false, 5),
                 .attrs = attrs({.weight_decay = 0.1, .maximize = true})},
                {.name = "amsgrad_over_many_tiles",
                 .inputs = inputs({70001}, true, 7),
                 .attrs = attrs({.beta1 = 0.8,
                                 .beta2 = 0.95,
                                 .epsilon = 1e-3,
                                 .weight_decay = 0.01,
                                 .amsgrad = true}),
                 .expect = {{70001}, {70001}, {70001}, {70001}}},
                quantized("eight_bits", {3, 7}, {}),
                quantized("eight_bits_of_a_scalar", {}, {}, 1),
                quantized("eight_bits_of_whole_blocks", {2, 256}, {}),
                quantized("eight_bits_over_many_tiles", {17001},
                          {.beta1 = 0.8,
                           .beta2 = 0.95,
                           .epsilon = 1e-3,
                           .weight_decay = 0.1,
                           .maximize = true})},
      .rejects = {without_last_state(quantized("", {300}, {}), "state tensors, got"),
                  {.name = "missing_maximum",
                   .inputs = inputs({2}, false, 1),
                   .attrs = attrs({.amsgrad = true}),
                   .error = "need 3 state tensors, got 2"}},
  };
}

THIMBLE_OP_CASES(adam_rows_update) {
  OpCases table{.cases = rows_cases(Adam{.maximize = true}), .rejects = rows_rejects(Adam{})};
  table.cases.push_back(rows_case("amsgrad", 9, 5, 3, Adam{.amsgrad = true}));
  const OpCase decay = rows_case("", 5, 3, 2, Adam{.weight_decay = 0.5});
  table.rejects.push_back({"decay", decay.inputs, decay.attrs, "weight_decay reaches rows"});
  return table;
}

}  // namespace thimble::test
