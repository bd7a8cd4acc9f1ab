#include "harness/op_cases.h"

namespace thimble::test::rmsprop_update_test {
namespace {

std::vector<TensorSpec> inputs(const Shape& shape, const RMSProp& options) {
  std::vector<TensorSpec> specs = {
      {.shape = shape, .state = true},
      {.shape = shape},
      {.shape = {}, .low = 0.1, .high = 0.5},
      {.shape = {}, .dtype = DType::i32, .low = 1, .high = 9},
      {.shape = shape, .low = 0.2, .high = 1.0, .state = true},
  };
  if (options.centered) {
    specs.push_back({.shape = shape, .low = -0.3, .high = 0.3, .state = true});
  }
  if (options.momentum != 0.0) specs.push_back({.shape = shape, .state = true});
  return specs;
}

OpCase made(const char* name, const Shape& shape, const RMSProp& options) {
  return {.name = name, .inputs = inputs(shape, options), .attrs = ir::Attrs::of(options)};
}

}  // namespace

THIMBLE_OP_CASES(rmsprop_update) {
  return {
      .cases = {made("plain", {3, 7}, {}), made("scalar", {}, {}), made("empty", {0}, {}),
                made("weight_decay_up", {33}, {.weight_decay = 0.1, .maximize = true}),
                made("momentum", {17}, {.momentum = 0.9}),
                made("centered", {17}, {.alpha = 0.9, .centered = true}),
                made("epsilon_inside_root", {17}, {.epsilon = 0.1, .epsilon_inside_root = true}),
                made("centered_momentum_over_many_tiles", {70001},
                     {.alpha = 0.9, .momentum = 0.9, .centered = true})},
      .rejects = {{.name = "missing_average",
                   .inputs = inputs({2}, {}),
                   .attrs = ir::Attrs::of(RMSProp{.centered = true}),
                   .error = "need 2 state tensors, got 1"}},
  };
}

}  // namespace thimble::test::rmsprop_update_test
