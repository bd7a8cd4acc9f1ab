#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ops/families/quantized/floats_helium.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_input_grad/dims.h"
#include "parallel/thread_pool.h"

namespace thimble::test::quantized_conv2d_input_grad_test {
namespace {

// As C code for microcontrollers has them.
namespace micro {
using real = float;
#include "ops/quantized_conv2d_input_grad/micro.h"
}  // namespace micro
namespace dsp {
using real = float;
#include "ops/quantized_conv2d_input_grad/cortex_m_dsp.h"
}  // namespace dsp
namespace helium {
using real = float;
#include "ops/families/quantized/input_grad_helium.h"
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
