#include <gtest/gtest.h>

#include <thimble/ops/activation_bits.h>
#include <thimble/ops/add.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/quantize.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sum_to.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/int8_errors.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/int8_error_grad/cases.h"
#include "ops/int8_error_grad/dims.h"

namespace thimble::test::int8_error_grad_test {
namespace {

// As C code for microcontrollers and for Cortex-M has it, beside the reference.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#undef ERROR_INT8_OWN_ROUNDING
namespace ref {
using real = float;
#include "ops/int8_error_grad/ref.h"
}  // namespace ref
namespace micro {
using real = float;
#include "ops/int8_error_grad/micro.h"
}  // namespace micro
namespace dsp {
using real = float;
#include "ops/int8_error_grad/cortex_m_dsp.h"
}  // namespace dsp
#undef INT8_ERROR_OWN_TILES
#pragma GCC diagnostic pop

// What the tests compute by themselves, in integers, from the numbers of a case.
struct Numbers {
  explicit Numbers(const Tensor& e, const Tensor& of_scale, const Tensor& of_factors,
                   const Tensor& of_bits)
      : errors(values_of<int8_t>(e.bytes)),
        scale(values_of<float>(of_scale.bytes)[0]),
        factors(values_of<float>(of_factors.bytes)),
        channels(static_cast<size_t>(e.type.shape[-1])) {
    for (const float v : factors) most = std::max(most, std::abs(v));
    if (of_bits.absent) return;
    const auto bits = of_bits.bytes;
    for (size_t i = 0; i < errors.size(); ++i) {
      if ((std::to_integer<int>(bits[i / 8]) >> (i % 8) & 1) == 0) errors[i] = 0;
    }
  }

  [[nodiscard]] float factor(size_t channel) const {
    return factors[factors.size() == 1 ? 0 : channel];
  }
  [[nodiscard]] int64_t folded(size_t i) const {
    const double factor_of = double{factor(i % channels) * (32640 / most)};
    const double product = errors[i] * std::trunc(factor_of + std::copysign(0.5, factor_of));
    return static_cast<int64_t>(std::floor(product / 128 + 0.5));
  }

  std::vector<int8_t> errors;  // 0 where their bit is not set
  float scale;
  std::vector<float> factors;
  size_t channels;
  float most = 0.0F;  // the largest size of a factor
};

// What error_to_int8 makes of v, to which what waits is added first.
std::vector<ir::Bytes> stored(const Shape& shape, const std::vector<float>& numbers,
                              const Tensor& waiting, const Tensor& scale) {
  Tensor v = tensor(shape, numbers);
  if (!waiting.absent) {
    v.bytes = run_op("add_int8_error", {}, {v, waiting, scale}, Kernel::reference)[0];
  }
  return run_op("error_to_int8", {}, {v}, Kernel::reference);
}

constexpr Kernel kKernels[] = {Kernel::reference, Kernel::fast};
const char* name_of(Kernel kernel) { return kernel == Kernel::fast ? ", fast" : ", reference"; }

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
          {"one_factor", {error_spec({3, 4}), scale_spec(), {.shape = {1}}}, {}, {{4}}},
          {"65537_rows", {error_spec({1, 1, 65537, 1}), scale_spec(), {.shape = {1}}}, {}, {{1}}}};
}

}  // namespace

THIMBLE_OP_CASES(int8_error_input_grad) {
  const TensorSpec e = error_spec({1, 2, 2, 3});
  const TensorSpec w = weight_spec({3, 1, 1, 5});
  const ir::Attrs attrs = ir::Attrs::of(Conv2dInputGradAttrs{.size = {2, 2}});
  const TensorSpec factors{.shape = {3}};
  return {.cases = input_cases(layers()),
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
  return {.cases = weight_cases(layers()),
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

void expect_input_grad(const Layer& l, const OpCase& test, const std::vector<Tensor>& in) {
  const Numbers error(in[0], in[1], in[2], in[4]);
  const std::vector<int8_t> w = values_of<int8_t>(in[3].bytes);
  const bool is_depthwise = l.groups == l.x[3] && l.groups == l.y[3];
  std::vector<int64_t> sums(static_cast<size_t>(l.x.elements()));
  std::vector<double> real(sums.size());  // with factors as they are
  std::vector<double> bounds(sums.size());
  for_each_product(l, [&](size_t e, size_t x, size_t at) {
    sums[x] += (is_depthwise ? error.errors[e] : error.folded(e)) * w[at];
    const double scaled = double{error.scale} * w[at];
    real[x] += scaled * error.errors[e] * double{error.factor(e % error.channels)};
    // Half a unit of an int16, and what rounding the factor does.
    bounds[x] += std::abs(scaled) * double{error.most} / 255;
  });
  std::vector<float> v(sums.size());
  for (size_t x = 0; x < v.size(); ++x) {
    const float unit = is_depthwise ? error.scale * error.factor(x % error.channels)
                                    : error.scale * (error.most * 128 / 32640);
    v[x] = static_cast<float>(sums[x]) * unit;
    ASSERT_NEAR(double{v[x]}, real[x], bounds[x] + 1e-5 * std::abs(real[x])) << l.name;
  }
  const std::vector<ir::Bytes> wanted = stored(l.x, v, in[5], in[6]);
  for (const Kernel kernel : kKernels) {
    EXPECT_EQ(run_op("int8_error_input_grad", test.attrs, in, kernel), wanted)
        << l.name << name_of(kernel);
  }
}

void expect_weight_grad(const Layer& l, const OpCase& test, const std::vector<Tensor>& in) {
  const Numbers error(in[1], in[2], in[3], in[4]);
  const std::vector<int8_t> numbers = values_of<int8_t>(in[0].bytes);
  std::vector<int64_t> sums(static_cast<size_t>(l.weight.elements()));
  for_each_product(l, [&](size_t e, size_t x, size_t at) {
    sums[at] += int64_t{error.errors[e]} * (numbers[x] - l.zero_point);
  });
  std::vector<float> dw(sums.size());
  const size_t of_channel = sums.size() / error.channels;
  for (size_t k = 0; k < dw.size(); ++k) {
    dw[k] = static_cast<float>(sums[k]) * (error.scale * error.factor(k / of_channel));
  }
  const std::vector<ir::Bytes> wanted{tensor(l.weight, dw).bytes};
  for (const Kernel kernel : kKernels) {
    EXPECT_EQ(run_op("int8_error_weight_grad", test.attrs, in, kernel), wanted)
        << l.name << name_of(kernel);
  }
}

TEST(int8_error_grad, of_inputs_is_the_exact_sum_of_integers_and_its_rounding) {
  std::mt19937 random(1);
  const std::vector<OpCase> cases = input_cases(layers());
  for (size_t i = 0; i < cases.size(); ++i) {
    expect_input_grad(layers()[i], cases[i], drawn(cases[i], random));
  }
}

TEST(int8_error_grad, of_weights_is_the_exact_sum_of_integers) {
  std::mt19937 random(2);
  const std::vector<OpCase> cases = weight_cases(layers());
  for (size_t i = 0; i < cases.size(); ++i) {
    expect_weight_grad(layers()[i], cases[i], drawn(cases[i], random));
  }
}

TEST(int8_error_grad, is_exact_where_int32_would_overflow) {
  const std::vector<Layer> all = long_sums();
  const std::vector<OpCase> inputs = input_cases(all);
  const std::vector<OpCase> weights = weight_cases(all);
  for (size_t i = 0; i < all.size(); ++i) {
    for (const bool is_negative : {false, true}) {
      expect_input_grad(all[i], inputs[i], saturated(inputs[i], is_negative));
      expect_weight_grad(all[i], weights[i], saturated(weights[i], is_negative));
    }
  }
}

// A number of dx from 160,000 errors of one channel.
TEST(int8_error_grad, of_a_huge_depthwise_window_is_exact) {
  const Shape window{1, 400, 400, 1};
  const ir::Attrs attrs =
      ir::Attrs::of(Conv2dInputGradAttrs{.size = {1, 1}, .padding = 399, .groups = 1});
  const std::vector<float> one{1.0F};
  const std::vector<int8_t> largest(160000, -128);
  const std::vector<Tensor> in = {tensor(DType::i8, window, largest),
                                  tensor(Shape{}, one),
                                  tensor(Shape{1}, one),
                                  quantized_tensor(DType::i8, window, largest, {.scales = {0.02F}}),
                                  {.absent = true},
                                  {.absent = true},
                                  {.absent = true}};
  const auto wanted = stored({1, 1, 1, 1}, {160000.0F * 16384.0F}, in[5], in[6]);
  for (const Kernel kernel : kKernels) {
    EXPECT_EQ(run_op("int8_error_input_grad", attrs, in, kernel), wanted);
  }
}

TEST(int8_error_grad, of_biases_is_the_exact_sum_of_integers) {
  std::mt19937 random(3);
  for (const OpCase& test : bias_cases()) {
    std::vector<Tensor> in = drawn(test, random);
    in.resize(4, {.absent = true});
    const Numbers error(in[0], in[1], in[2], in[3]);
    std::vector<int64_t> sums(error.channels);
    for (size_t i = 0; i < error.errors.size(); ++i) sums[i % error.channels] += error.errors[i];
    std::vector<float> dbias(sums.size());
    for (size_t k = 0; k < sums.size(); ++k) {
      dbias[k] = static_cast<float>(sums[k]) * (error.scale * error.factor(k));
    }
    const std::vector<ir::Bytes> wanted{tensor(test.expect[0], dbias).bytes};
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_bias_grad", {}, in, kernel), wanted) << test.name;
    }
  }
}

TEST(int8_error_grad, of_biases_is_exact_where_int32_would_overflow) {
  const int rows = 16920000;
  const std::vector<int8_t> e(size_t{2} * rows, -127);
  const std::vector<float> ones(2, 1.0F);
  const std::vector<float> wanted(2, static_cast<float>(int64_t{rows} * -127));
  const int8_error_dims d{rows, 2, 1};
  for (const auto& kernel : {micro::int8_error_bias_grad_ref, ref::int8_error_bias_grad_ref}) {
    std::vector<float> dbias(2);
    kernel(dbias.data(), e.data(), ones.data(), ones.data(), nullptr, &d);
    EXPECT_EQ(dbias, wanted);
  }
  const std::vector<Tensor> in = {tensor(DType::i8, {rows, 2}, e),
                                  tensor(Shape{}, {1.0F}),
                                  tensor(Shape{2}, ones),
                                  {.absent = true}};
  EXPECT_EQ(values_of<float>(run_op("int8_error_bias_grad", {}, in, Kernel::fast)[0]), wanted);
}

TEST(int8_error_grad, of_scaled_numbers_has_the_bits_of_f32_and_their_rounding) {
  std::mt19937 random(4);
  for (const OpCase& test : scale_cases()) {
    std::vector<Tensor> in = drawn(test, random);
    in.resize(6, {.absent = true});
    const Numbers error(in[0], in[1], in[2], in[3]);
    std::vector<float> v(error.errors.size());
    for (size_t i = 0; i < v.size(); ++i) {
      v[i] = static_cast<float>(error.errors[i]) * (error.scale * error.factor(i % error.channels));
    }
    const auto wanted = stored(test.expect[0], v, in[4], in[5]);
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_scale", {}, in, kernel), wanted) << test.name;
    }
  }
}

conv_dims dims_of(const Layer& l) {
  const auto at = [](const Shape& shape, int i) { return static_cast<int>(shape[i]); };
  conv_dims d{.n = at(l.x, 0), .h = at(l.x, 1), .w = at(l.x, 2), .c = at(l.x, 3)};
  d.p = at(l.y, 1), d.q = at(l.y, 2), d.k = at(l.y, 3);
  d.r = at(l.weight, 1), d.s = at(l.weight, 2);
  d.stride_h = d.stride_w = static_cast<int>(l.stride);
  d.pad_top = d.pad_left = static_cast<int>(l.padding.top);
  d.dilation_h = d.dilation_w = static_cast<int>(l.dilation);
  d.groups = static_cast<int>(l.groups);
  return d;
}

// All gradients of a layer; is_large: their sums are as large as they can be.
void expect_same_on_microcontrollers(const Layer& l, bool is_large, std::mt19937& random) {
  const conv_dims d = dims_of(l);
  std::vector<int8_t> e = random_int8(l.y.elements(), random);
  std::vector<int8_t> x = random_int8(l.x.elements(), random);
  std::vector<int8_t> w = random_int8(l.weight.elements(), random);
  const std::vector<int8_t> waiting = random_int8(l.x.elements(), random);
  std::vector<float> factors(static_cast<size_t>(d.k), 1.0F);
  std::vector<uint8_t> bits(e.size() / 8 + 1, 255);
  std::uniform_real_distribution<float> uniform(0.01F, 1.0F);
  if (is_large) {
    std::fill(e.begin(), e.end(), int8_t{127});
    std::fill(x.begin(), x.end(), int8_t{127});
    std::fill(w.begin(), w.end(), int8_t{-128});
  } else {
    for (float& v : factors) v = uniform(random);
    for (uint8_t& byte : bits) byte = static_cast<uint8_t>(random());
  }
  const float scale = 0.013F;
  const uint8_t* const of_bits = l.has_bits ? bits.data() : nullptr;
  const int8_error_conv_dims dims{d, l.one_factor ? 0 : 1, l.zero_point};
  const int8_error_dims of_bias{d.n * d.p * d.q, d.k, dims.factor_step};
  const auto run = [&](const auto& of_input, const auto& of_weight, const auto& of_bias_grad) {
    std::vector<int8_t> dx(waiting.size());
    std::vector<float> unit{0.0F};
    std::vector<float> dw(w.size());
    std::vector<float> dbias(factors.size());
    of_input(dx.data(), unit.data(), e.data(), &scale, factors.data(), w.data(), of_bits,
             l.has_waiting ? waiting.data() : nullptr, l.has_waiting ? &scale : nullptr, &dims);
    of_weight(dw.data(), x.data(), e.data(), &scale, factors.data(), of_bits, &dims);
    of_bias_grad(dbias.data(), e.data(), &scale, factors.data(), of_bits, &of_bias);
    return std::tuple(dx, unit, dw, dbias);
  };
  const auto wanted = run(ref::int8_error_input_grad_ref, ref::int8_error_weight_grad_ref,
                          ref::int8_error_bias_grad_ref);
  EXPECT_EQ(run(micro::int8_error_input_grad_ref, micro::int8_error_weight_grad_ref,
                micro::int8_error_bias_grad_ref),
            wanted)
      << l.name;
  EXPECT_EQ(run(dsp::int8_error_input_grad_ref, dsp::int8_error_weight_grad_ref,
                dsp::int8_error_bias_grad_ref),
            wanted)
      << l.name;
}

TEST(int8_error_grad, of_microcontrollers_has_the_bits_of_the_reference) {
  std::mt19937 random(5);
  for (const Layer& l : layers()) {
    for (const bool is_large : {false, true}) expect_same_on_microcontrollers(l, is_large, random);
  }
  for (const Layer& l : long_sums()) expect_same_on_microcontrollers(l, true, random);
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
