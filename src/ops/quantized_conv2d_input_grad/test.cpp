#include <gtest/gtest.h>

#include <thimble/ops/activation_bits.h>
#include <thimble/ops/add.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "ops/activation_bits/dims.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/floats_helium.h"
#include "ops/families/quantized/masked.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_input_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::test::quantized_conv2d_input_grad_test {
namespace {

// As C code for microcontrollers has them.
namespace micro {
using real = float;
#include "ops/families/quantized/masked_grad_micro.h"
}  // namespace micro
namespace dsp {
using real = float;
#include "ops/families/quantized/masked_grad_cortex_m_dsp.h"
}  // namespace dsp
namespace helium {
using real = float;
#include "ops/families/quantized/masked_grad_helium.h"
}  // namespace helium

OpCase gradient(const char* name, const Shape& dy, const Shape& weight, const Shape& dx,
                Conv2dInputGradAttrs attrs = {}) {
  attrs.size = {dx[1], dx[2]};
  return {.name = name,
          .inputs = {{.shape = dy}, weight_spec(weight)},
          .attrs = ir::Attrs::of(attrs),
          .expect = {dx}};
}

std::vector<OpCase> any_convolutions() {
  return {
      gradient("one_by_one", {3, 5, 4, 7}, {7, 1, 1, 6}, {3, 5, 4, 6}),
      gradient("many_channels", {2, 9, 8, 19}, {19, 3, 3, 83}, {2, 9, 8, 83}, {.padding = 1}),
      gradient("a_depth_of_several_blocks", {1, 3, 4, 700}, {700, 1, 1, 70}, {1, 3, 4, 70}),
      gradient("few_channels", {2, 14, 13, 6}, {6, 5, 5, 1}, {2, 18, 17, 1}),
      gradient("stride_2_padding_1", {3, 5, 4, 16}, {16, 3, 3, 24}, {3, 9, 7, 24},
               {.stride = 2, .padding = 1}),
      gradient("stride_larger_than_kernel", {3, 3, 3, 3}, {3, 2, 2, 2}, {3, 11, 10, 2},
               {.stride = 4}),
      gradient("dilation", {3, 7, 8, 3}, {3, 3, 2, 2}, {3, 9, 11, 2},
               {.padding = 1, .dilation = {2, 5}}),
      gradient("groups", {3, 6, 5, 9}, {9, 3, 3, 2}, {3, 6, 5, 6}, {.padding = 1, .groups = 3}),
      gradient("depthwise_stride_2", {1, 6, 6, 33}, {33, 7, 7, 1}, {1, 12, 11, 33},
               {.stride = 2, .padding = 3, .groups = 33}),
      gradient("empty_batch", {0, 3, 3, 6}, {6, 3, 3, 3}, {0, 5, 5, 3}),
      gradient("dense", {5, 1, 1, 21}, {21, 34}, {5, 1, 1, 34}),
  };
}

std::vector<OpCase> in_place_convolutions() {
  return {
      gradient("depthwise", {2, 6, 21, 83}, {83, 3, 3, 1}, {2, 6, 21, 83},
               {.padding = 1, .groups = 83}),
      gradient("kernel_7", {1, 8, 8, 20}, {20, 7, 7, 1}, {1, 8, 8, 20},
               {.padding = 3, .groups = 20}),
      gradient("kernel_5_of_few_pixels", {2, 4, 4, 9}, {9, 5, 5, 1}, {2, 4, 4, 9},
               {.padding = 2, .groups = 9}),
      gradient("padding_of_one_side", {1, 5, 6, 3}, {3, 3, 3, 1}, {1, 5, 6, 3},
               {.padding = {2, 0, 0, 2}, .groups = 3}),
      gradient("dilation", {1, 8, 20, 18}, {18, 3, 3, 1}, {1, 8, 20, 18},
               {.padding = 2, .dilation = 2, .groups = 18}),
      gradient("image_smaller_than_the_window", {2, 2, 3, 5}, {5, 5, 5, 1}, {2, 2, 3, 5},
               {.padding = 2, .groups = 5}),
      gradient("empty_batch", {0, 4, 4, 5}, {5, 3, 3, 1}, {0, 4, 4, 5},
               {.padding = 1, .groups = 5}),
  };
}

std::vector<OpCase> masked_convolutions() {
  std::vector<OpCase> all{
      gradient("masked_pixels", {1, 4, 4, 48}, {48, 1, 1, 72}, {1, 4, 4, 72}),
      gradient("masked_pixels_of_many", {2, 3, 3, 16}, {16, 1, 1, 136}, {2, 3, 3, 136}),
      gradient("other_channels", {1, 3, 3, 20}, {20, 1, 1, 8}, {1, 3, 3, 8}),
      gradient("masked_windows", {1, 5, 4, 16}, {16, 3, 3, 8}, {1, 5, 4, 8}, {.padding = 1}),
      gradient("masked_dense", {5, 1, 1, 32}, {32, 40}, {5, 1, 1, 40})};
  for (OpCase& each : all) {
    each.inputs.push_back({.shape = each.expect[0], .dtype = DType::boolean});
  }
  return all;
}

struct Drawn {
  Tensor dy;
  Tensor weight;
};

Drawn drawn(const OpCase& test, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> dy(static_cast<size_t>(test.inputs[0].shape.elements()));
  // Some are 0, as masks make them.
  for (float& v : dy) v = random() % 4 == 0 ? 0.0F : uniform(random);
  const Shape& weight = test.inputs[1].shape;
  return {tensor(test.inputs[0].shape, dy),
          quantized_tensor(DType::i8, weight, random_int8(weight.elements(), random),
                           test.inputs[1].quantization)};
}

// The gradient of f32 weights of the same integers.
ir::Bytes by_f32(const OpCase& test, const Drawn& of, Kernel kernel) {
  std::vector<float> numbers;
  for (const int8_t v : values_of<int8_t>(of.weight.bytes)) numbers.push_back(v);
  Shape shape = of.weight.type.shape;
  if (shape.rank() == 2) shape = {shape[0], 1, 1, shape[1]};
  return run_op("conv2d_input_grad", test.attrs, {of.dy, tensor(shape, numbers)}, kernel)[0];
}

}  // namespace

THIMBLE_OP_CASES(quantized_conv2d_input_grad) {
  const TensorSpec dy{.shape = {1, 5, 5, 4}};
  const ir::Attrs attrs = ir::Attrs::of(Conv2dInputGradAttrs{.size = {7, 7}});
  return {.cases = any_convolutions(),
          .rejects = {
              {"weights_that_are_numbers", {dy, {.shape = {4, 3, 3, 2}}}, attrs, "must be i8"},
              {"other_channels", {dy, weight_spec({5, 3, 3, 2})}, attrs, "expected a weight [4,"},
              {"another_size", {dy, weight_spec({4, 2, 2, 2})}, attrs, "as large as"},
              {"weights_with_a_zero_point",
               {dy, int8_spec({4, 3, 3, 2}, {.scales = {1.0F}, .zero_points = {1}})},
               attrs,
               "zero points of 0"},
          }};
}

THIMBLE_OP_CASES(quantized_conv2d_input_grad_masked) {
  std::vector<OpCase> cases = masked_convolutions();
  const auto& inputs = cases[0].inputs;
  return {.cases = cases,
          .rejects = {{"bits_of_another_shape",
                       {inputs[0], inputs[1], {.shape = {1, 4, 4, 8}, .dtype = DType::boolean}},
                       cases[0].attrs,
                       "expected a bit for every element of dx"}}};
}

THIMBLE_OP_CASES(quantized_depthwise_input_grad) {
  return {.cases = in_place_convolutions(),
          .rejects = {{"stride_2",
                       {{.shape = {1, 3, 3, 4}}, weight_spec({4, 3, 3, 1})},
                       ir::Attrs::of(Conv2dInputGradAttrs{
                           .size = {6, 6}, .stride = 2, .padding = 1, .groups = 4}),
                       "depthwise convolution of stride 1"}}};
}

TEST(quantized_conv2d_input_grad, has_the_bits_of_f32_weights) {
  std::mt19937 random(5);
  for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
    for (const OpCase& test : any_convolutions()) {
      const Drawn of = drawn(test, random);
      const auto made =
          run_op("quantized_conv2d_input_grad", test.attrs, {of.dy, of.weight}, kernel);
      EXPECT_EQ(made[0], by_f32(test, of, kernel)) << test.name;
    }
    for (const OpCase& test : in_place_convolutions()) {
      const Drawn of = drawn(test, random);
      const auto made =
          run_op("quantized_depthwise_input_grad", test.attrs, {of.dy, of.weight}, kernel);
      EXPECT_EQ(made[0], by_f32(test, of, kernel)) << test.name;
    }
  }
}

// Kernels of quantized_depthwise_input_grad, called with a result that lies where dy does.
TEST(quantized_depthwise_input_grad, computes_in_place) {
  std::mt19937 random(6);
  const ir::OpDef& op = *ir::find_op("quantized_depthwise_input_grad");
  parallel::ThreadPool pool(2);
  for (const OpCase& test : in_place_convolutions()) {
    const Drawn of = drawn(test, random);
    const ir::TensorType* const inputs[] = {&of.dy.type, &of.weight.type};
    const ir::TensorType output{DType::f32, test.expect[0]};
    const ir::Params params = op.kernels.params({test.attrs, inputs, {&output, 1}});
    ir::Bytes workspace(static_cast<size_t>(op.kernels.workspace(params, pool.threads())));
    for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
      ir::Bytes both = of.dy.bytes;
      void* const outputs[] = {both.data()};
      const void* const sources[] = {both.data(), of.weight.bytes.data()};
      const bool is_fast = kernel == Kernel::fast;
      (is_fast ? op.kernels.fast
               : op.kernels.ref)({outputs, sources, workspace.data(), params.bytes().data(), 2, 1,
                                  is_fast ? &pool : nullptr});
      EXPECT_EQ(both, by_f32(test, of, kernel)) << test.name;
    }
  }
}

TEST(quantized_conv2d_input_grad, of_microcontrollers_has_the_bits_of_the_reference) {
  std::mt19937 random(7);
  const auto compare = [&random](const OpCase& test, const char* name, ir::KernelFn kernel) {
    const Drawn of = drawn(test, random);
    const ir::OpDef& op = *ir::find_op(name);
    const ir::TensorType* const inputs[] = {&of.dy.type, &of.weight.type};
    const ir::TensorType output{DType::f32, test.expect[0]};
    const ir::Params params = op.kernels.params({test.attrs, inputs, {&output, 1}});
    ir::Bytes wanted(static_cast<size_t>(size_bytes(DType::f32, test.expect[0])));
    ir::Bytes made = wanted;
    const void* const sources[] = {of.dy.bytes.data(), of.weight.bytes.data()};
    void* const to_wanted[] = {wanted.data()};
    void* const to_made[] = {made.data()};
    op.kernels.ref({to_wanted, sources, nullptr, params.bytes().data(), 2, 1, nullptr});
    kernel({to_made, sources, nullptr, params.bytes().data(), 2, 1, nullptr});
    EXPECT_EQ(made, wanted) << name << " " << test.name;
  };
  for (const OpCase& test : any_convolutions()) {
    compare(test, "quantized_conv2d_input_grad",
            ir::kernel_fn<&micro::quantized_conv2d_input_grad_ref>());
    compare(test, "quantized_conv2d_input_grad",
            ir::kernel_fn<&dsp::quantized_conv2d_input_grad_ref>());
    compare(test, "quantized_conv2d_input_grad",
            ir::kernel_fn<&helium::quantized_conv2d_input_grad_ref>());
  }
  for (const OpCase& test : in_place_convolutions()) {
    compare(test, "quantized_depthwise_input_grad",
            ir::kernel_fn<&micro::quantized_depthwise_input_grad_ref>());
    compare(test, "quantized_depthwise_input_grad",
            ir::kernel_fn<&dsp::quantized_depthwise_input_grad_ref>());
    compare(test, "quantized_depthwise_input_grad",
            ir::kernel_fn<&helium::quantized_depthwise_input_grad_ref>());
  }
}

TEST(quantized_conv2d_input_grad, masked_has_the_bits_of_the_gradient_and_the_mask) {
  std::mt19937 random(8);
  const auto kernels = {ir::kernel_fn<&micro::quantized_conv2d_input_grad_masked_ref>(),
                        ir::kernel_fn<&dsp::quantized_conv2d_input_grad_masked_ref>(),
                        ir::kernel_fn<&helium::quantized_conv2d_input_grad_masked_ref>()};
  const ir::OpDef& op = *ir::find_op("quantized_conv2d_input_grad_masked");
  for (const OpCase& test : masked_convolutions()) {
    for (const int mask : {0, 0x55, 0xff}) {
      const Drawn of = drawn(test, random);
      const int64_t n = test.expect[0].elements();
      const ir::TensorType mask_type{DType::boolean, test.expect[0]};
      ir::Bytes bits(static_cast<size_t>((n + 7) / 8));
      for (std::byte& byte : bits)
        byte = static_cast<std::byte>(random() | static_cast<unsigned>(mask));
      if (mask == 0xff) std::fill(bits.begin(), bits.end(), std::byte{0xff});
      std::vector<float> wanted = values_of<float>(run_op(
          "quantized_conv2d_input_grad", test.attrs, {of.dy, of.weight}, Kernel::reference)[0]);
      for (size_t i = 0; i < wanted.size(); ++i) {
        if ((std::to_integer<int>(bits[i / 8]) >> (i % 8) & 1) == 0) wanted[i] = 0.0F;
      }
      const ir::TensorType* const inputs[] = {&of.dy.type, &of.weight.type, &mask_type};
      const ir::TensorType output{DType::f32, test.expect[0]};
      const ir::Params params = op.kernels.params({test.attrs, inputs, {&output, 1}});
      const void* const sources[] = {of.dy.bytes.data(), of.weight.bytes.data(), bits.data()};
      std::vector<float> made(wanted.size());
      void* const to[] = {made.data()};
      const auto check = [&](const ir::KernelFn& kernel) {
        std::fill(made.begin(), made.end(), NAN);
        kernel({to, sources, nullptr, params.bytes().data(), 3, 1, nullptr});
        EXPECT_EQ(made, wanted) << test.name;
      };
      check(op.kernels.ref);
      for (const ir::KernelFn& kernel : kernels) check(kernel);
    }
  }
}

// A gradient that another op reads, too, or of a larger window stays by itself.
TEST(quantized_conv2d_input_grad, is_joined_with_the_mask_that_alone_reads_it) {
  Graph g;
  const auto weight = [&g](const char* name, const Shape& shape) {
    const std::vector<int8_t> numbers(static_cast<size_t>(shape.elements()), 3);
    return g.constant(name, Array(numbers, shape), {.scales = {0.02F}});
  };
  const Value dy = g.input("dy", {4, 4, 16});
  const Value bits = activation_bits(g.input("x", {4, 4, 8}), {});
  const Conv2dInputGradAttrs attrs{.size = {4, 4}};
  const Value a = ops::quantized_input_grad(dy, weight("wa", {16, 1, 1, 8}), attrs);
  const Value b = ops::quantized_input_grad(dy, weight("wb", {16, 1, 1, 8}), attrs);
  const Value c =
      ops::quantized_input_grad(dy, weight("wc", {16, 3, 3, 8}), {.size = {4, 4}, .padding = 1});
  g.output("a", grad_by_bits(a, bits));
  g.output("b", grad_by_bits(b, bits) + b);
  g.output("c", grad_by_bits(c, bits));
  const ir::Graph graph = ir::with_batch(g.ir(), 1);
  const ir::Graph made = ops::with_masked_gradients(graph);
  ir::verify(made);
  const auto count = [](const ir::Graph& of, std::string_view op) {
    return std::count_if(of.nodes.begin(), of.nodes.end(),
                         [op](const auto& n) { return n.op->name == op; });
  };
  EXPECT_EQ(count(made, "quantized_conv2d_input_grad_masked"), 1);
  EXPECT_EQ(count(made, "quantized_conv2d_input_grad"), 2);
  EXPECT_EQ(count(made, "grad_by_bits"), 2);
  EXPECT_EQ(made.nodes.size(), graph.nodes.size() - 1);
}

// Vectors of Helium take floats below 2^-126 for 0.
TEST(quantized_conv2d_input_grad, vectors_are_left_to_numbers_that_stay_normal) {
  const auto is_exact = [](float v) {
    const std::vector<float> x{0.0F, -1.0F, v, 3.0F, 0x1p-100F};
    return quantized_helium_is_exact(x.data(), static_cast<int>(x.size())) != 0;
  };
  for (const float v : {0.0F, -0.0F, 0x1p-100F, -0x1p-100F, 1.0F, 0x1.fp126F}) {
    EXPECT_TRUE(is_exact(v)) << v;
  }
  for (const float v : {0x1p-101F, -0x1p-110F, 0x1p-149F, 0x1p127F, -INFINITY, NAN}) {
    EXPECT_FALSE(is_exact(v)) << v;
  }
}

}  // namespace thimble::test::quantized_conv2d_input_grad_test
