#include <gtest/gtest.h>

#include "ops/families/quantized/floats_helium.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/quantized/sum_micro.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"

namespace thimble::test::quantized_conv2d_weight_grad_test {
namespace {

// As C code for microcontrollers has it.
namespace micro {
using real = float;
#include "ops/quantized_conv2d_weight_grad/micro.h"
}  // namespace micro
namespace helium {
using real = float;
#include "ops/families/quantized/weight_grad_helium.h"
}  // namespace helium

const Quantization kInput{.scales = {0.05F}, .zero_points = {-11}};

OpCase gradient(const char* name, const Shape& x, const Shape& dy, const Shape& dw,
                Conv2dWeightGradAttrs attrs = {}) {
  attrs.kernel = {dw[1], dw[2]};
  return {.name = name,
          .inputs = {int8_spec(x, kInput), {.shape = dy}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {dw}};
}

std::vector<OpCase> convolutions() {
  return {
      gradient("one_by_one", {3, 5, 4, 6}, {3, 5, 4, 7}, {7, 1, 1, 6}),
      gradient("more_pixels_than_a_tile", {2, 6, 7, 9}, {2, 6, 7, 10}, {10, 1, 1, 9}),
      gradient("many_channels", {2, 9, 8, 83}, {2, 9, 8, 19}, {19, 3, 3, 83}, {.padding = 1}),
      gradient("few_channels", {2, 18, 17, 1}, {2, 14, 13, 6}, {6, 5, 5, 1}),
      gradient("stride_2_padding_1", {3, 9, 7, 24}, {3, 5, 4, 16}, {16, 3, 3, 24},
               {.stride = 2, .padding = 1}),
      gradient("dilation", {3, 9, 11, 2}, {3, 7, 8, 3}, {3, 3, 2, 2},
               {.padding = 1, .dilation = {2, 5}}),
      gradient("groups", {3, 6, 5, 6}, {3, 6, 5, 9}, {9, 3, 3, 2}, {.padding = 1, .groups = 3}),
      gradient("depthwise", {1, 12, 11, 33}, {1, 6, 6, 33}, {33, 7, 7, 1},
               {.stride = 2, .padding = 3, .groups = 33}),
      gradient("some_channels", {2, 7, 6, 5}, {2, 7, 6, 20}, {20, 3, 3, 5},
               {.padding = 1, .whole_channels = 40}),
      gradient("empty_batch", {0, 5, 5, 3}, {0, 3, 3, 6}, {6, 3, 3, 3}),
  };
}

}  // namespace

THIMBLE_OP_CASES(quantized_conv2d_weight_grad) {
  const TensorSpec dy{.shape = {2, 3, 3, 6}};
  const ir::Attrs attrs = ir::Attrs::of(Conv2dWeightGradAttrs{.kernel = 3});
  return {.cases = convolutions(),
          .rejects = {
              {"numbers", {{.shape = {2, 5, 5, 3}}, dy}, attrs, "quantize it first"},
              {"another_batch", {int8_spec({1, 5, 5, 3}, kInput), dy}, attrs, "of one batch"},
              {"another_size", {int8_spec({2, 6, 5, 3}, kInput), dy}, attrs, "as large as"},
          }};
}

TEST(quantized_conv2d_weight_grad, has_the_bits_of_f32_images) {
  std::mt19937 random(8);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  for (const OpCase& test : convolutions()) {
    const Shape& shape = test.inputs[0].shape;
    const std::vector<int8_t> x = random_int8(shape.elements(), random);
    std::vector<float> centered;
    for (const int8_t v : x) centered.push_back(static_cast<float>(v + 11));
    std::vector<float> dy(static_cast<size_t>(test.inputs[1].shape.elements()));
    for (float& v : dy) v = uniform(random);
    const Tensor grad = tensor(test.inputs[1].shape, dy);
    const Tensor image = quantized_tensor(DType::i8, shape, x, kInput);
    for (const Kernel kernel : {Kernel::reference, Kernel::fast}) {
      EXPECT_EQ(run_op("quantized_conv2d_weight_grad", test.attrs, {image, grad}, kernel),
                run_op("conv2d_weight_grad", test.attrs, {tensor(shape, centered), grad}, kernel))
          << test.name;
    }
    const ir::TensorType* const inputs[] = {&image.type, &grad.type};
    const ir::TensorType output{DType::f32, test.expect[0]};
    const ir::Params params = ir::find_op("quantized_conv2d_weight_grad")
                                  ->kernels.params({test.attrs, inputs, {&output, 1}});
    const void* const sources[] = {image.bytes.data(), grad.bytes.data()};
    for (const ir::KernelFn kernel : {ir::kernel_fn<&micro::quantized_conv2d_weight_grad_ref>(),
                                      ir::kernel_fn<&helium::quantized_conv2d_weight_grad_ref>()}) {
      ir::Bytes made(static_cast<size_t>(size_bytes(DType::f32, test.expect[0])));
      void* const outputs[] = {made.data()};
      kernel({outputs, sources, nullptr, params.bytes().data(), 2, 1, nullptr});
      EXPECT_EQ(made, run_op("quantized_conv2d_weight_grad", test.attrs, {image, grad},
                             Kernel::reference)[0])
          << test.name;
    }
  }
}

}  // namespace thimble::test::quantized_conv2d_weight_grad_test
