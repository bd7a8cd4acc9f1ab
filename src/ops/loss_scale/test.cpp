#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/optimizer_value.h"
#include "ops/loss_scale/attrs.h"

namespace thimble::test::loss_scale_test {
namespace {

const TensorSpec kFlag{.shape = {}, .dtype = DType::i32, .low = 0, .high = 1};
const TensorSpec kScale{.shape = {}, .low = 3.0, .high = 4.0};
const TensorSpec kScaleState{.shape = {}, .low = 3.0, .high = 4.0, .state = true};
const TensorSpec kCounter{.shape = {}, .dtype = DType::i32, .low = 0, .high = 9, .state = true};

Tensor number(int32_t value) { return tensor<int32_t>(DType::i32, {}, {value}); }

int32_t found(const Tensor& x) {
  const auto fast = run_op("has_non_finite", {}, {x}, Kernel::fast)[0];
  EXPECT_EQ(fast, run_op("has_non_finite", {}, {x}, Kernel::reference)[0]);
  return values_of<int32_t>(fast)[0];
}

}  // namespace

THIMBLE_OP_CASES(has_non_finite) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}}}, .expect = {Shape{}}},
                {.name = "f16", .inputs = {{.shape = {3, 7}, .dtype = DType::f16}}},
                {.name = "bf16", .inputs = {{.shape = {3, 7}, .dtype = DType::bf16}}},
                {.name = "any_f16",
                 .inputs = {{.shape = {3, 7}, .dtype = DType::f16, .any_bits = true}}},
                {.name = "any_bf16",
                 .inputs = {{.shape = {400}, .dtype = DType::bf16, .any_bits = true}}},
                {.name = "empty", .inputs = {{.shape = {0}}, kFlag}},
                {.name = "chained", .inputs = {{.shape = {5}}, kFlag}},
                {.name = "many_tiles", .inputs = {{.shape = {70001}}, kFlag}}},
      .rejects = {{.name = "integers",
                   .inputs = {{.shape = {5}, .dtype = DType::i32}},
                   .error = "must be floating"},
                  {.name = "previous_that_is_no_number",
                   .inputs = {{.shape = {5}}, {.shape = {1}, .dtype = DType::i32}},
                   .error = "expected one number as previous"}},
  };
}

THIMBLE_OP_CASES(unscale_gradient) {
  return {
      .cases = {{.name = "matrix", .inputs = {{.shape = {3, 7}}, kScale}, .expect = {{3, 7}}},
                {.name = "f16", .inputs = {{.shape = {33}, .dtype = DType::f16}, kScale}},
                {.name = "bf16", .inputs = {{.shape = {33}, .dtype = DType::bf16}, kScale}},
                {.name = "empty", .inputs = {{.shape = {0, 3}}, kScale}},
                {.name = "many_tiles",
                 .inputs = {{.shape = {7, 10001}, .dtype = DType::f16}, kScale}}},
      .rejects = {{.name = "scale_that_is_no_number",
                   .inputs = {{.shape = {5}}, {.shape = {1}}},
                   .error = "expected one number as scale"}},
  };
}

THIMBLE_OP_CASES(update_number) {
  const TensorSpec step{.shape = {}, .dtype = DType::i32, .low = 10, .high = 20};
  const TensorSpec skipped{.shape = {}, .dtype = DType::i32, .low = 0, .high = 9};
  return {
      .cases = {{.name = "any", .inputs = {step, skipped, kFlag}, .expect = {Shape{}}}},
      .rejects = {{.name = "step_that_is_no_number",
                   .inputs = {{.shape = {1}, .dtype = DType::i32}, skipped, kFlag},
                   .error = "expected one number as step"}},
  };
}

THIMBLE_OP_CASES(update_loss_scale) {
  const auto with = [](double growth, double backoff, int64_t interval) {
    return ir::Attrs::of(LossScaleOptions{growth, backoff, interval});
  };
  const std::vector<TensorSpec> inputs{kScaleState, kCounter, kCounter, kFlag};
  const auto rejected = [&](const char* name, const ir::Attrs& attrs, const char* error) {
    return RejectCase{.name = name, .inputs = inputs, .attrs = attrs, .error = error};
  };
  return {
      .cases = {{.name = "usual", .inputs = inputs, .expect = {Shape{}, Shape{}, Shape{}}},
                {.name = "grows", .inputs = inputs, .attrs = with(3.0, 0.25, 1)},
                {.name = "may_grow", .inputs = inputs, .attrs = with(3.0, 0.25, 6)}},
      .rejects = {rejected("growth_below_1", with(0.5, 0.5, 1), "growth must be at least 1"),
                  rejected("backoff_of_1", with(2.0, 1.0, 1), "backoff must be above 0 and below"),
                  rejected("no_interval", with(2.0, 0.5, 0), "interval must be at least 1")},
  };
}

TEST(has_non_finite, finds_infinity_and_nan_wherever_they_stand) {
  std::vector<float> numbers(40000, 3e38F);
  EXPECT_EQ(found(tensor({40000}, numbers)), 0);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    for (const size_t at : {size_t{0}, size_t{20001}, numbers.size() - 1}) {
      numbers[at] = bad;
      EXPECT_EQ(found(tensor({40000}, numbers)), 1) << bad << " at " << at;
      numbers[at] = 0.0F;
    }
  }
  const auto half = [](DType dtype, uint16_t bits) {
    return found(tensor<uint16_t>(dtype, {3}, {0x3C00, bits, 0x8001}));
  };
  EXPECT_EQ(half(DType::f16, 0x7BFF), 0);  // 65504
  EXPECT_EQ(half(DType::f16, 0x7C00), 1);
  EXPECT_EQ(half(DType::f16, 0xFE00), 1);
  EXPECT_EQ(half(DType::bf16, 0x7F7F), 0);
  EXPECT_EQ(half(DType::bf16, 0xFF80), 1);
}

TEST(update_loss_scale, falls_at_once_and_grows_after_an_interval_of_finite_gradients) {
  const ir::Attrs attrs = ir::Attrs::of(LossScaleOptions{.interval = 3});
  float scale = 8.0F;
  int32_t good = 0;
  int32_t skipped = 0;
  const auto step = [&](int32_t overflow) {
    const auto out = run_op("update_loss_scale", attrs,
                            {tensor({}, {scale}), number(good), number(skipped), number(overflow)},
                            Kernel::reference);
    scale = values_of<float>(out[0])[0];
    good = values_of<int32_t>(out[1])[0];
    skipped = values_of<int32_t>(out[2])[0];
    return scale;
  };
  EXPECT_EQ(step(0), 8.0F);
  EXPECT_EQ(step(0), 8.0F);
  EXPECT_EQ(step(1), 4.0F);
  EXPECT_EQ(good, 0);
  EXPECT_EQ(skipped, 1);
  EXPECT_EQ(step(0), 4.0F);
  EXPECT_EQ(step(0), 4.0F);
  EXPECT_EQ(step(0), 8.0F);
  EXPECT_EQ(good, 0);
  EXPECT_EQ(skipped, 1);
  scale = 3e38F;  // cannot grow
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(0), 3e38F);
}

TEST(update_number, counts_updates_that_were_not_skipped) {
  const auto of = [](int32_t step, int32_t skipped, int32_t overflow) {
    const auto out = run_op("update_number", {}, {number(step), number(skipped), number(overflow)},
                            Kernel::reference);
    return values_of<int32_t>(out[0])[0];
  };
  EXPECT_EQ(of(7, 2, 0), 5);
  EXPECT_EQ(of(7, 2, 1), 0);
}

// Contents of 2s, or of codes.
Tensor filled(const ir::TensorType& type) {
  if (type.dtype != DType::f32) {
    return tensor<uint8_t>(type.dtype, type.shape,
                           std::vector<uint8_t>(static_cast<size_t>(type.shape.elements()), 3));
  }
  return tensor(type.shape, std::vector<float>(static_cast<size_t>(type.shape.elements()), 2.0F));
}

// The outputs of a rule for a gradient of NaN must be what it updates.
void expect_untouched(const ir::OpDef& rule, const ir::Attrs& settings, bool by_rows) {
  const Shape shape{5, 3};
  const std::vector<float> bad(by_rows ? 6 : 15, NAN);
  std::vector<Tensor> inputs{filled({DType::f32, shape}),
                             tensor(by_rows ? Shape{2, 3} : shape, bad)};
  if (by_rows) inputs.push_back(tensor<int32_t>(DType::i32, {2}, {4, 1}));
  inputs.push_back(tensor({}, {0.1F}));
  inputs.push_back(number(0));
  std::vector<Tensor> kept{inputs[0]};
  const auto* const owner = Optimizer::parse(rule.optimizer.name).value().op;
  for (const ir::StateSpec& spec : owner->optimizer.states(settings, shape)) {
    kept.push_back(filled(spec.type));
    inputs.push_back(kept.back());
  }
  const ir::OpDef& op = by_rows ? *rule.optimizer.by_rows : rule;
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const std::vector<ir::Bytes> outputs = run_op(op.name, settings, inputs, kernel);
    ASSERT_EQ(outputs.size(), kept.size()) << op.name;
    for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(outputs[i], kept[i].bytes) << op.name << i;
  }
}

TEST(update_number, tells_every_optimizer_to_do_nothing_where_it_is_0) {
  int rules = 0;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (op->optimizer.name == nullptr) continue;
    const ir::Attrs settings = Optimizer::parse(op->optimizer.name).value().settings;
    expect_untouched(*op, settings, false);
    ++rules;
    const bool has_rows = op->optimizer.by_rows != nullptr &&
                          std::string(op->optimizer.reaches_all_rows(settings)).empty();
    if (has_rows) expect_untouched(*op, settings, true);
  }
  EXPECT_GT(rules, 15);
}

}  // namespace thimble::test::loss_scale_test
