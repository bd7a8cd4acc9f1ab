#include <thimble/optimizers.h>

#include "harness/update_cases.h"
#include "ops/conv2d_weight_grad/attrs.h"
#include "ops/matmul/attrs.h"
#include "ops/update_in_parts/attrs.h"

namespace thimble::test::update_in_parts_test {
namespace {

// Rounding of sums of some hundred products, relative to the largest result.
constexpr double kTolerance = 2e-5;

using Tensors = std::vector<TensorSpec>;

// The rule of an optimizer's case with a gradient from other inputs.
OpCase in_parts(std::string name, const Optimizer& optimizer, OpCase rule,
                const ops::InnerOp& gradient, const Tensors& inputs, int64_t rows) {
  constexpr size_t kRuleStates = 4;
  constexpr size_t kStates = 4;
  const ir::OpDef& update = *optimizer.value().op;
  const size_t declared = update.signature.outputs.size() - 1;
  const auto at = [&rule](size_t i) {
    return i < rule.inputs.size() ? rule.inputs[i] : TensorSpec{.absent = true};
  };
  OpCase made{.name = std::move(name),
              .inputs = {at(0), at(2), at(3)},
              .attrs = ir::Attrs::of(
                  ops::UpdateInPartsAttrs{gradient, {&update, optimizer.value().settings}, rows}),
              .expect = rule.expect,
              .tolerance = kTolerance};
  for (size_t i = 0; i < kStates; ++i) {
    made.inputs.push_back(i < declared ? at(kRuleStates + i) : TensorSpec{.absent = true});
  }
  made.inputs.push_back(at(kRuleStates + declared));
  made.inputs.insert(made.inputs.end(), inputs.begin(), inputs.end());
  return made;
}

// A dense layer's weights [out, in], from a batch.
OpCase dense(std::string name, const Optimizer& optimizer, int64_t out, int64_t in, int64_t batch) {
  const OpCase rule = update_case(name, {out, in}, optimizer);
  return in_parts(std::move(name), optimizer, rule,
                  {ir::find_op("matmul"), ir::Attrs::of(MatmulAttrs{.transpose_a = true})},
                  {{.shape = {batch, out}}, {.shape = {batch, in}}}, 48);
}

OpCase convolution(std::string name, const Optimizer& optimizer) {
  const OpCase rule = update_case(name, {60, 3, 3, 33}, optimizer);
  return in_parts(std::move(name), optimizer, rule,
                  {ir::find_op("conv2d_weight_grad"),
                   ir::Attrs::of(Conv2dWeightGradAttrs{.kernel = 3, .padding = 1})},
                  {{.shape = {2, 6, 5, 33}}, {.shape = {2, 6, 5, 60}}}, 24);
}

OpCase cycled() {
  const Optimizer optimizer = SGD{.momentum = 0.9};
  const OpCase rule = with_momentum(update_case("", {101, 7}, optimizer), optimizer);
  return in_parts("momentum_of_the_step", optimizer, rule,
                  {ir::find_op("matmul"), ir::Attrs::of(MatmulAttrs{.transpose_a = true})},
                  {{.shape = {5, 101}}, {.shape = {5, 7}}}, 48);
}

RejectCase refused(const char* name, OpCase test, const char* error) {
  return {.name = name, .inputs = test.inputs, .attrs = test.attrs, .error = error};
}

OpCase without_rows() {
  OpCase made = dense("", SGD{}, 101, 7, 5);
  auto attrs = made.attrs.as<ops::UpdateInPartsAttrs>();
  attrs.rows = 0;
  made.attrs = ir::Attrs::of(attrs);
  return made;
}

OpCase of_another_type() {
  OpCase made = dense("", SGD{}, 101, 7, 5);
  made.inputs.back().shape = {5, 8};
  return made;
}

}  // namespace

THIMBLE_OP_CASES(update_in_parts) {
  return {
      .cases = {dense("sgd", SGD{}, 101, 37, 9),
                dense("sgd_momentum", SGD{.momentum = 0.9}, 101, 37, 9),
                dense("adam_of_many_parts", Adam{}, 900, 5, 20),
                dense("amsgrad", Adam{.amsgrad = true}, 97, 70, 33),
                dense("adamw_of_one_part", AdamW{}, 40, 30, 5),
                dense("rmsprop_momentum", RMSProp{.momentum = 0.5}, 96, 20, 8), cycled(),
                convolution("convolution", AdamW{}), convolution("convolution_sgd", SGD{})},
      .rejects = {refused("rules_for_whole_tensors", dense("", LARS{}, 101, 7, 5),
                          "a rule for single elements"),
                  refused("states_in_blocks",
                          dense("", AdamW{.state_bits = 8, .min_8bit_size = 1}, 101, 7, 5),
                          "a rule for single elements"),
                  refused("no_rows", without_rows(), "at least one row"),
                  refused("a_gradient_of_another_type", of_another_type(),
                          "a gradient of the parameter's type")},
  };
}

}  // namespace thimble::test::update_in_parts_test
