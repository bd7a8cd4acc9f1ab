#include <gtest/gtest.h>

#include <thimble/ops/activation_bits.h>
#include <thimble/ops/add.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/quantize.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sum_to.h>

#include <algorithm>
#include <random>
#include <string_view>
#include <vector>

#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/int8_errors.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/quantized/sum_micro.h"
#include "ops/int8_error_grad/dims.h"
#include "ops/sum_to/attrs.h"

namespace thimble::test::int8_error_grad_test {
namespace {

// As C code for microcontrollers has it, beside the reference.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
namespace ref {
using real = float;
#include "ops/error_int8/rounding.h"
#include "ops/int8_error_grad/parts.h"
}  // namespace ref
namespace micro {
using real = float;
#include "ops/int8_error_grad/micro.h"
}  // namespace micro
#pragma GCC diagnostic pop

TensorSpec error_spec(const Shape& shape) {
  return {.shape = shape, .dtype = DType::i8, .low = -127.0, .high = 127.0};
}
TensorSpec scale_spec() { return {.shape = {}, .low = 0.01, .high = 0.1}; }
TensorSpec bits_spec(const Shape& shape) { return {.shape = shape, .dtype = DType::boolean}; }
TensorSpec none() { return {.absent = true}; }

// A convolution whose gradients are taken.
struct Layer {
  const char* name;
  Shape x;
  Shape weight;
  Shape y;
  int64_t stride = 1;
  Padding padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  bool has_bits = true;
  bool has_waiting = false;
  bool one_factor = false;
};

std::vector<Layer> layers() {
  return {
      {.name = "pixels", .x = {2, 5, 4, 70}, .weight = {67, 1, 1, 70}, .y = {2, 5, 4, 67}},
      {.name = "pixels_and_waiting",
       .x = {1, 4, 4, 24},
       .weight = {130, 1, 1, 24},
       .y = {1, 4, 4, 130},
       .has_waiting = true},
      {.name = "windows",
       .x = {2, 9, 7, 5},
       .weight = {12, 3, 3, 5},
       .y = {2, 5, 4, 12},
       .stride = 2,
       .padding = 1,
       .has_bits = false},
      {.name = "groups",
       .x = {1, 6, 5, 6},
       .weight = {9, 3, 3, 2},
       .y = {1, 6, 5, 9},
       .padding = 1,
       .groups = 3,
       .has_waiting = true,
       .one_factor = true},
      {.name = "depthwise",
       .x = {2, 6, 8, 83},
       .weight = {83, 5, 5, 1},
       .y = {2, 6, 8, 83},
       .padding = 2,
       .groups = 83,
       .has_waiting = true},
      {.name = "depthwise_stride_2",
       .x = {1, 8, 8, 10},
       .weight = {10, 3, 3, 1},
       .y = {1, 4, 4, 10},
       .stride = 2,
       .padding = 1,
       .groups = 10},
      {.name = "several_of_a_channel",
       .x = {1, 4, 4, 3},
       .weight = {6, 3, 3, 1},
       .y = {1, 4, 4, 6},
       .padding = 1,
       .groups = 3},
      {.name = "empty_batch", .x = {0, 4, 4, 3}, .weight = {6, 1, 1, 3}, .y = {0, 4, 4, 6}},
  };
}

Shape factors_of(const Layer& layer) { return {layer.one_factor ? 1 : layer.y[3]}; }

Conv2dInputGradAttrs input_attrs(const Layer& l) {
  return {.size = {l.x[1], l.x[2]},
          .stride = l.stride,
          .padding = l.padding,
          .dilation = l.dilation,
          .groups = l.groups};
}

Conv2dWeightGradAttrs weight_attrs(const Layer& l) {
  return {.kernel = {l.weight[1], l.weight[2]},
          .stride = l.stride,
          .padding = l.padding,
          .dilation = l.dilation,
          .groups = l.groups};
}

std::vector<OpCase> input_cases() {
  std::vector<OpCase> cases;
  for (const Layer& l : layers()) {
    cases.push_back({l.name,
                     {error_spec(l.y),
                      scale_spec(),
                      {.shape = factors_of(l)},
                      weight_spec(l.weight),
                      l.has_bits ? bits_spec(l.y) : none(),
                      l.has_waiting ? error_spec(l.x) : none(),
                      l.has_waiting ? scale_spec() : none()},
                     ir::Attrs::of(input_attrs(l)),
                     {l.x, {}}});
  }
  return cases;
}

std::vector<OpCase> weight_cases() {
  std::vector<OpCase> cases;
  for (const Layer& l : layers()) {
    cases.push_back({l.name,
                     {int8_spec(l.x, {.scales = {0.1F}, .zero_points = {-3}}),
                      error_spec(l.y),
                      scale_spec(),
                      {.shape = factors_of(l)},
                      l.has_bits ? bits_spec(l.y) : none()},
                     ir::Attrs::of(weight_attrs(l)),
                     {l.weight}});
  }
  return cases;
}

// Random inputs of a case.
std::vector<Tensor> drawn(const OpCase& test, std::mt19937& random) {
  std::vector<Tensor> all;
  for (const TensorSpec& spec : test.inputs) {
    const auto n = static_cast<size_t>(spec.shape.elements());
    if (spec.absent) {
      all.push_back({.absent = true});
    } else if (spec.dtype == DType::boolean) {
      Tensor bits{{DType::boolean, spec.shape}, ir::Bytes((n + 7) / 8)};
      for (std::byte& byte : bits.bytes) {
        byte = static_cast<std::byte>(random() % 3 == 0 ? 255 : random());
      }
      all.push_back(bits);
    } else if (spec.dtype == DType::i8) {
      std::vector<int8_t> numbers = random_int8(spec.shape.elements(), random);
      for (int8_t& v : numbers) v = random() % 4 == 0 ? 0 : std::max<int8_t>(v, -127);
      Tensor made = tensor(DType::i8, spec.shape, numbers);
      if (!spec.quantization.scales.empty()) {
        made = quantized_tensor(DType::i8, spec.shape, numbers, spec.quantization);
      }
      all.push_back(made);
    } else {
      std::uniform_real_distribution<float> uniform(0.01F, 1.0F);
      std::vector<float> numbers(n);
      for (float& v : numbers) v = uniform(random);
      all.push_back(tensor(spec.shape, numbers));
    }
  }
  return all;
}

Tensor f32_of(const Tensor& like, const ir::Bytes& bytes) {
  return {{DType::f32, like.type.shape}, bytes};
}

// The gradient of the sums by the f32 ops, from an error, its scale, factors and bits.
Tensor sums_by_f32(const Tensor& e, const Tensor& scale, const Tensor& factors,
                   const Tensor& bits) {
  const auto run = [](const char* op, const ir::Attrs& attrs, const std::vector<Tensor>& inputs) {
    return run_op(op, attrs, inputs, Kernel::reference)[0];
  };
  Tensor made = f32_of(e, run("error_from_int8", {}, {e, scale}));
  if (!bits.absent) {
    made.bytes = run("grad_by_bits", ir::Attrs::of(GradByBitsAttrs{}), {made, bits});
  }
  made.bytes = run("mul", {}, {made, factors});
  return made;
}

// What error_to_int8 makes of v, to which what waits is added first.
std::vector<ir::Bytes> stored_by_f32(Tensor v, const Tensor& waiting, const Tensor& scale) {
  if (!waiting.absent) {
    v.bytes = run_op("add_int8_error", {}, {v, waiting, scale}, Kernel::reference)[0];
  }
  return run_op("error_to_int8", {}, {v}, Kernel::reference);
}

constexpr Kernel kKernels[] = {Kernel::reference, Kernel::fast};

std::vector<OpCase> scale_cases() {
  const Shape some{2, 5, 70};
  return {{"with_bits",
           {error_spec(some), scale_spec(), {.shape = {70}}, bits_spec(some)},
           {},
           {some, {}}},
          {"one_factor_and_waiting",
           {error_spec(some), scale_spec(), {.shape = {1}}, none(), error_spec(some), scale_spec()},
           {},
           {some, {}}},
          {"empty", {error_spec({0, 3}), scale_spec(), {.shape = {3}}}, {}, {{0, 3}, {}}}};
}

std::vector<OpCase> bias_cases() {
  const Shape some{2, 13, 12, 9};
  return {{"blocks_of_rows",
           {error_spec(some), scale_spec(), {.shape = {9}}, bits_spec(some)},
           {},
           {{9}}},
          {"one_factor", {error_spec({3, 4}), scale_spec(), {.shape = {1}}}, {}, {{4}}}};
}

}  // namespace

THIMBLE_OP_CASES(int8_error_input_grad) {
  const TensorSpec e = error_spec({1, 2, 2, 3});
  const TensorSpec w = weight_spec({3, 1, 1, 5});
  const ir::Attrs attrs = ir::Attrs::of(Conv2dInputGradAttrs{.size = {2, 2}});
  const TensorSpec factors{.shape = {3}};
  return {.cases = input_cases(),
          .rejects = {{"two_factors",
                       {e, scale_spec(), {.shape = {2}}, w},
                       attrs,
                       "a factor for every channel of e, or one"},
                      {"other_bits",
                       {e, scale_spec(), factors, w, bits_spec({1, 2, 2, 5})},
                       attrs,
                       "a bit for every element of e"},
                      {"waiting_without_scale",
                       {e, scale_spec(), factors, w, none(), error_spec({1, 2, 2, 5})},
                       attrs,
                       "waiting and its scale, or neither"},
                      {"other_waiting",
                       {e, scale_spec(), factors, w, none(), e, scale_spec()},
                       attrs,
                       "waiting to be i8 without a scale, of the shape of dx"},
                      {"another_image",
                       {e, scale_spec(), factors, w},
                       ir::Attrs::of(Conv2dInputGradAttrs{.size = {3, 2}}),
                       "as large as the convolution's result"}}};
}

THIMBLE_OP_CASES(int8_error_weight_grad) {
  return {.cases = weight_cases(),
          .rejects = {{"two_scales",
                       {int8_spec({1, 2, 2, 5}, {.scales = {0.02F}}),
                        error_spec({1, 2, 2, 3}),
                        {.shape = {2}},
                        {.shape = {3}}},
                       ir::Attrs::of(Conv2dWeightGradAttrs{.kernel = {1, 1}}),
                       "expected e [..., K] and one scale"}}};
}

THIMBLE_OP_CASES(int8_error_bias_grad) {
  return {
      .cases = bias_cases(),
      .rejects = {
          {"a_scalar", {error_spec({}), scale_spec(), {.shape = {1}}}, {}, "expected e [..., K]"}}};
}

THIMBLE_OP_CASES(int8_error_scale) {
  return {.cases = scale_cases(),
          .rejects = {{"other_waiting",
                       {error_spec({2, 3}),
                        scale_spec(),
                        {.shape = {3}},
                        none(),
                        error_spec({3, 2}),
                        scale_spec()},
                       {},
                       "of the shape of dx"}}};
}

TEST(int8_error_grad, of_inputs_has_the_bits_of_f32_gradients_and_their_rounding) {
  std::mt19937 random(1);
  for (const OpCase& test : input_cases()) {
    const std::vector<Tensor> in = drawn(test, random);
    const Tensor sums = sums_by_f32(in[0], in[1], in[2], in[4]);
    const Tensor v{
        {DType::f32, test.expect[0]},
        run_op("quantized_conv2d_input_grad", test.attrs, {sums, in[3]}, Kernel::reference)[0]};
    const std::vector<ir::Bytes> wanted = stored_by_f32(v, in[5], in[6]);
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_input_grad", test.attrs, in, kernel), wanted) << test.name;
    }
  }
}

TEST(int8_error_grad, of_weights_has_the_bits_of_f32_gradients) {
  std::mt19937 random(2);
  for (const OpCase& test : weight_cases()) {
    const std::vector<Tensor> in = drawn(test, random);
    const Tensor sums = sums_by_f32(in[1], in[2], in[3], in[4]);
    const auto wanted =
        run_op("quantized_conv2d_weight_grad", test.attrs, {in[0], sums}, Kernel::reference);
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_weight_grad", test.attrs, in, kernel), wanted) << test.name;
    }
  }
}

TEST(int8_error_grad, of_biases_has_the_bits_of_f32_sums) {
  std::mt19937 random(3);
  for (const OpCase& test : bias_cases()) {
    std::vector<Tensor> in = drawn(test, random);
    in.resize(4, {.absent = true});
    const Tensor sums = sums_by_f32(in[0], in[1], in[2], in[3]);
    const auto wanted =
        run_op("sum_to", ir::Attrs::of(SumToAttrs{test.expect[0]}), {sums}, Kernel::reference);
    EXPECT_EQ(run_op("int8_error_bias_grad", {}, in, Kernel::reference), wanted) << test.name;
  }
}

TEST(int8_error_grad, of_scaled_numbers_has_the_bits_of_f32_and_their_rounding) {
  std::mt19937 random(4);
  for (const OpCase& test : scale_cases()) {
    std::vector<Tensor> in = drawn(test, random);
    in.resize(6, {.absent = true});
    const auto wanted = stored_by_f32(sums_by_f32(in[0], in[1], in[2], in[3]), in[4], in[5]);
    EXPECT_EQ(run_op("int8_error_scale", {}, in, Kernel::reference), wanted) << test.name;
  }
}

TEST(int8_error_grad, of_microcontrollers_has_the_bits_of_the_reference) {
  std::mt19937 random(5);
  for (const int channels : {12, 64, 30}) {
    constexpr int k = 70;
    constexpr int width = 7;
    conv_dims d{.n = 1, .h = 2, .w = width, .c = channels, .p = 2, .q = width, .k = k};
    d.r = d.s = d.stride_h = d.stride_w = d.dilation_h = d.dilation_w = d.groups = 1;
    const std::vector<int8_t> e = random_int8(2 * width * k, random);
    const std::vector<int8_t> w = random_int8(int64_t{k} * channels, random);
    std::vector<float> factors(k);
    std::uniform_real_distribution<float> uniform(0.1F, 1.0F);
    for (float& v : factors) v = uniform(random);
    std::vector<uint8_t> bits(e.size() / 8 + 1);
    for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
    const ref::int8_error_source from{e.data(), factors.data(), bits.data(), 0.013F, 1};
    const micro::int8_error_source same{e.data(), factors.data(), bits.data(), 0.013F, 1};
    for (const int columns : {4, 3}) {
      constexpr int kNumbers = INT8_ERROR_PIXELS * INT8_ERROR_CHUNK;
      std::vector<float> wanted(kNumbers, 0.0F);
      std::vector<float> made(kNumbers, 0.0F);
      ref::int8_error_strip(wanted.data(), &from, w.data(), &d, 0, 1, 2, columns, 0, channels);
      micro::int8_error_strip(made.data(), &same, w.data(), &d, 0, 1, 2, columns, 0, channels);
      EXPECT_EQ(made, wanted) << channels << " " << columns;
      EXPECT_NE(made[0], 0.0F);
    }
  }
}

// The graph of a layer's gradients and of an error that is scaled and added to a waiting one.
TEST(int8_error_grad, stand_for_gradients_between_stored_errors) {
  Graph g;
  const auto error = [&g](Value v) { return g.ir().add(ops::int8_error_of(), {}, {&v, 1}); };
  const ir::StoredError& read = *ops::int8_error_of().gradient.stored_error;
  const std::vector<Value> first = error(g.input("dy", {4, 4, 16}));
  const Value bits = activation_bits(g.input("y", {4, 4, 16}), {});
  const Value factors = g.constant("f", Array(std::vector<float>(16, 0.5F), {16}));
  const Value weight =
      g.constant("w", Array(std::vector<int8_t>(128, 3), {16, 1, 1, 8}), {.scales = {0.02F}});
  const Value loaded = g.ir().add(*read.load, {}, first)[0];
  const Value sums = grad_by_bits(loaded, bits) * factors;
  g.output("bias", sum_to(sums, {16}));
  const Value x = quantize(g.input("x", {4, 4, 8}), {.scale = 0.01F});
  g.output("weight", ops::quantized_weight_grad(x, sums, {.kernel = 1}));
  const Value dx = reshape(ops::quantized_input_grad(sums, weight, {.size = {4, 4}}), {-1, 16, 8});
  const std::vector<Value> second = error(dx);
  const Value scaled = g.ir().add(*read.load, {}, second)[0] * 0.25;
  const Value added[] = {scaled, second[0], second[1]};
  const std::vector<Value> third = error(g.ir().add(*read.add, {}, added)[0]);
  g.output("error", g.ir().add(*read.load, {}, third)[0]);
  const ir::Graph graph = ir::with_batch(g.ir(), 2);
  const ir::Graph made = ops::with_int8_errors(graph);
  ir::verify(made);
  const auto count = [&made](std::string_view op) {
    return std::count_if(made.nodes.begin(), made.nodes.end(),
                         [op](const auto& n) { return n.op->name == op; });
  };
  EXPECT_EQ(count("int8_error_bias_grad"), 1);
  EXPECT_EQ(count("int8_error_weight_grad"), 1);
  EXPECT_EQ(count("int8_error_input_grad"), 1);
  EXPECT_EQ(count("int8_error_scale"), 1);
  EXPECT_EQ(count("sum_to"), 0);
  EXPECT_EQ(count("error_to_int8"), 1);  // of what is given
}

}  // namespace thimble::test::int8_error_grad_test
