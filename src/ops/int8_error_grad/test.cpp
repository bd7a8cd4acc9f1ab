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
#include <utility>
#include <vector>

#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/int8_errors.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/int8_error_grad/cases.h"
#include "ops/int8_error_grad/dims.h"

namespace thimble::test::int8_error_grad_test {
namespace {

// As C code for microcontrollers has it, beside the reference.
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
#pragma GCC diagnostic pop
TensorSpec error_spec(const Shape& shape) {
  return {.shape = shape, .dtype = DType::i8, .low = -127.0, .high = 127.0};
}
TensorSpec scale_spec() { return {.shape = {}, .low = 0.01, .high = 0.1}; }
TensorSpec bits_spec(const Shape& shape) { return {.shape = shape, .dtype = DType::boolean}; }
TensorSpec none() { return {.absent = true}; }

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

// What the tests compute by themselves, in integers, from the numbers of a case.
struct Numbers {
  explicit Numbers(const Tensor& e, const Tensor& of_scale, const Tensor& of_factors,
                   const Tensor& of_bits)
      : errors(elements<int8_t>(e)),
        scale(elements<float>(of_scale)[0]),
        factors(elements<float>(of_factors)),
        channels(static_cast<size_t>(e.type.shape[-1])) {
    if (of_bits.absent) return;
    const auto bits = of_bits.bytes;
    for (size_t i = 0; i < errors.size(); ++i) {
      if ((std::to_integer<int>(bits[i / 8]) >> (i % 8) & 1) == 0) errors[i] = 0;
    }
  }

  template <class T>
  static std::vector<T> elements(const Tensor& of) {
    std::vector<T> all(of.bytes.size() / sizeof(T));
    std::memcpy(all.data(), of.bytes.data(), all.size() * sizeof(T));
    return all;
  }

  [[nodiscard]] float factor(size_t channel) const {
    return factors[factors.size() == 1 ? 0 : channel];
  }
  [[nodiscard]] float most() const {
    return std::abs(*std::max_element(factors.begin(), factors.end(),
                                      [](float a, float b) { return std::abs(a) < std::abs(b); }));
  }
  [[nodiscard]] int64_t folded(size_t i) const {
    const double factor_of = double{factor(i % channels) * (32640 / most())};
    const double product = errors[i] * std::trunc(factor_of + std::copysign(0.5, factor_of));
    return static_cast<int64_t>(std::floor(product / 128 + 0.5));
  }

  std::vector<int8_t> errors;  // 0 where their bit is not set
  float scale;
  std::vector<float> factors;
  size_t channels;
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

TEST(int8_error_grad, of_inputs_is_the_exact_sum_of_integers_and_its_rounding) {
  std::mt19937 random(1);
  const std::vector<OpCase> cases = input_cases();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Layer l = layers()[i];
    const std::vector<Tensor> in = drawn(cases[i], random);
    const Numbers error(in[0], in[1], in[2], in[4]);
    const std::vector<int8_t> w = Numbers::elements<int8_t>(in[3]);
    const bool is_depthwise = l.groups == l.x[3] && l.groups == l.y[3];
    std::vector<int64_t> sums(static_cast<size_t>(l.x.elements()));
    std::vector<double> real(sums.size());  // with factors as they are
    std::vector<double> bounds(sums.size());
    for_each_product(l, [&](size_t e, size_t x, size_t at) {
      sums[x] += (is_depthwise ? error.errors[e] : error.folded(e)) * w[at];
      const double scaled = double{error.scale} * w[at];
      real[x] += scaled * error.errors[e] * double{error.factor(e % error.channels)};
      // Half a unit of an int16, and what rounding the factor does.
      bounds[x] += std::abs(scaled) * double{error.most()} / 255;
    });
    std::vector<float> v(sums.size());
    for (size_t x = 0; x < v.size(); ++x) {
      const float unit = is_depthwise ? error.scale * error.factor(x % error.channels)
                                      : error.scale * (error.most() * 128 / 32640);
      v[x] = static_cast<float>(sums[x]) * unit;
      EXPECT_NEAR(double{v[x]}, real[x], bounds[x] + 1e-5 * std::abs(real[x])) << l.name;
    }
    const std::vector<ir::Bytes> wanted = stored(l.x, v, in[5], in[6]);
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_input_grad", cases[i].attrs, in, kernel), wanted) << l.name;
    }
  }
}

TEST(int8_error_grad, of_weights_is_the_exact_sum_of_integers) {
  std::mt19937 random(2);
  const std::vector<OpCase> cases = weight_cases();
  for (size_t i = 0; i < cases.size(); ++i) {
    const Layer l = layers()[i];
    const std::vector<Tensor> in = drawn(cases[i], random);
    const Numbers error(in[1], in[2], in[3], in[4]);
    const std::vector<int8_t> numbers = Numbers::elements<int8_t>(in[0]);
    std::vector<int64_t> sums(static_cast<size_t>(l.weight.elements()));
    for_each_product(l, [&](size_t e, size_t x, size_t at) {
      sums[at] += int64_t{error.errors[e]} * (numbers[x] + 3);
    });
    std::vector<float> dw(sums.size());
    const size_t of_channel = sums.size() / error.channels;
    for (size_t k = 0; k < dw.size(); ++k) {
      dw[k] = static_cast<float>(sums[k]) * (error.scale * error.factor(k / of_channel));
    }
    const std::vector<ir::Bytes> wanted{tensor(l.weight, dw).bytes};
    for (const Kernel kernel : kKernels) {
      EXPECT_EQ(run_op("int8_error_weight_grad", cases[i].attrs, in, kernel), wanted) << l.name;
    }
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

TEST(int8_error_grad, of_microcontrollers_has_the_bits_of_the_reference) {
  std::mt19937 random(5);
  for (const bool is_large : {false, true}) {
    for (const Layer& l : layers()) {
      const auto at = [](const Shape& shape, int i) { return static_cast<int>(shape[i]); };
      conv_dims d{.n = at(l.x, 0), .h = at(l.x, 1), .w = at(l.x, 2), .c = at(l.x, 3)};
      d.p = at(l.y, 1), d.q = at(l.y, 2), d.k = at(l.y, 3);
      d.r = at(l.weight, 1), d.s = at(l.weight, 2);
      d.stride_h = d.stride_w = static_cast<int>(l.stride);
      d.pad_top = d.pad_left = static_cast<int>(l.padding.top);
      d.dilation_h = d.dilation_w = static_cast<int>(l.dilation);
      d.groups = static_cast<int>(l.groups);
      std::vector<int8_t> e = random_int8(l.y.elements(), random);
      if (is_large) std::fill(e.begin(), e.end(), int8_t{127});
      const std::vector<int8_t> w = random_int8(l.weight.elements(), random);
      const std::vector<int8_t> waiting = random_int8(l.x.elements(), random);
      std::vector<float> factors(static_cast<size_t>(d.k));
      std::uniform_real_distribution<float> uniform(is_large ? 1.0F : 0.01F, 1.0F);
      for (float& v : factors) v = uniform(random);
      std::vector<uint8_t> bits(e.size() / 8 + 1);
      for (uint8_t& byte : bits) byte = is_large ? 255 : static_cast<uint8_t>(random());
      const float scale = 0.013F;
      const int8_error_conv_dims dims{d, l.one_factor ? 0 : 1, 0};
      const auto run = [&](const auto& kernel) {
        std::vector<int8_t> dx(waiting.size());
        std::vector<float> unit{0.0F};
        kernel(dx.data(), unit.data(), e.data(), &scale, factors.data(), w.data(),
               l.has_bits ? bits.data() : nullptr, l.has_waiting ? waiting.data() : nullptr,
               l.has_waiting ? &scale : nullptr, &dims);
        return std::pair(dx, unit);
      };
      EXPECT_EQ(run(micro::int8_error_input_grad_ref), run(ref::int8_error_input_grad_ref))
          << l.name;
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
