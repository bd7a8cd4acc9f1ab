#include <gtest/gtest.h>

#include <thimble/ops/activation_bits.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/quantize.h>
#include <thimble/ops/quantized_dense.h>
#include <thimble/ops/sum_to.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>
#include <vector>

#include "ops/families/quantized/masked.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/families/quantized/sum_grad.h"
#include "ops/quantized_sum_grad/dims.h"
#include "ops/sum_to/attrs.h"

namespace thimble::test::quantized_sum_grad_test {
namespace {

// As C code for Cortex-M has it.
namespace dsp {
using real = float;
#include "ops/quantized_sum_grad/cortex_m_dsp.h"
}  // namespace dsp

OpCase gradient(const char* name, const Shape& dy, bool has_bits) {
  OpCase made{
      .name = name, .inputs = {{.shape = dy}, {.shape = {dy[-1]}}}, .expect = {dy, {dy[-1]}}};
  if (has_bits) made.inputs.push_back({.shape = dy, .dtype = DType::boolean});
  return made;
}

std::vector<OpCase> cases() {
  return {gradient("few", {2, 3, 2, 5}, false),
          gradient("masked", {2, 3, 2, 5}, true),
          gradient("channels_by_the_byte", {1, 4, 4, 24}, true),
          gradient("eights_and_others", {1, 4, 4, 20}, false),
          gradient("blocks_of_rows", {2, 13, 12, 16}, true),
          gradient("blocks_of_rows_unmasked", {1, 20, 20, 11}, false),
          gradient("a_row", {1, 10}, true),
          gradient("empty_batch", {0, 3, 3, 4}, false)};
}

}  // namespace

THIMBLE_OP_CASES(quantized_sum_grad) {
  return {
      .cases = cases(),
      .rejects = {
          {"other_channels", {{.shape = {2, 3}}, {.shape = {2}}}, {}, "a factor for every channel"},
          {"other_bits",
           {{.shape = {2, 3}}, {.shape = {3}}, {.shape = {3, 2}, .dtype = DType::boolean}},
           {},
           "a bit for every element"}}};
}

// Every kernel has the bits of the ops that it stands for.
TEST(quantized_sum_grad, has_the_bits_of_a_mask_a_product_and_a_sum) {
  std::mt19937 random(24);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  const auto draw = [&](const Shape& shape) {
    std::vector<float> numbers(static_cast<size_t>(shape.elements()));
    for (float& v : numbers) v = uniform(random);
    return tensor(shape, numbers);
  };
  const ir::OpDef& op = ops::quantized_sum_grad();
  const ir::KernelFn kernels[] = {op.kernels.ref, ir::kernel_fn<&dsp::quantized_sum_grad_ref>()};
  for (const OpCase& test : cases()) {
    const Tensor dy = draw(test.inputs[0].shape);
    const Tensor factors = draw(test.inputs[1].shape);
    const bool is_masked = test.inputs.size() > 2;
    const ir::TensorType mask{DType::boolean, dy.type.shape};
    ir::Bytes bits(static_cast<size_t>((dy.type.shape.elements() + 7) / 8));
    for (std::byte& byte : bits) byte = static_cast<std::byte>(random() % 3 == 0 ? 255 : random());
    Tensor masked = dy;
    if (is_masked) {
      masked.bytes = run_op("grad_by_bits", ir::Attrs::of(GradByBitsAttrs{}), {dy, {mask, bits}},
                            Kernel::reference)[0];
    }
    Tensor scaled = masked;
    scaled.bytes = run_op("mul", {}, {masked, factors}, Kernel::reference)[0];
    const ir::Bytes sums = run_op("sum_to", ir::Attrs::of(SumToAttrs{factors.type.shape}), {scaled},
                                  Kernel::reference)[0];
    const ir::TensorType* const inputs[] = {&dy.type, &factors.type, is_masked ? &mask : nullptr};
    const ir::TensorType outputs[] = {dy.type, factors.type};
    const ir::Params params = op.kernels.params({test.attrs, inputs, outputs});
    for (const ir::KernelFn& kernel : kernels) {
      ir::Bytes dsum = dy.bytes;  // in place
      ir::Bytes dbias(sums.size());
      const void* const sources[] = {dsum.data(), factors.bytes.data(),
                                     is_masked ? bits.data() : nullptr};
      void* const to[] = {dsum.data(), dbias.data()};
      kernel({to, sources, nullptr, params.bytes().data(), 3, 2, nullptr});
      EXPECT_EQ(dsum, scaled.bytes) << test.name;
      EXPECT_EQ(dbias, sums) << test.name;
    }
  }
}

// A mask that another op reads, too, stays by itself; so does a product that is not summed.
TEST(quantized_sum_grad, stands_for_a_product_and_its_sums) {
  Graph g;
  const auto factors = [&g](const char* name) {
    return g.constant(name, Array(std::vector<float>(8, 0.5F), {8}));
  };
  const Value dy = g.input("dy", {4, 4, 8});
  const Value bits = activation_bits(g.input("x", {4, 4, 8}), {});
  const Value a = grad_by_bits(dy, bits) * factors("fa");
  const Value masked = grad_by_bits(dy * 2.0, bits);
  const Value b = masked * factors("fb");
  g.output("a", sum_to(a, {8}));
  g.output("b", sum_to(b, {8}));
  g.output("sums", b);
  g.output("mask", masked * 3.0);
  g.output("c", masked * factors("fc"));
  const ir::Graph plain = ir::with_batch(g.ir(), 1);
  EXPECT_EQ(ops::with_sum_gradients(plain).nodes.size(), plain.nodes.size());
  const Value layer =
      g.constant("layer", Array(std::vector<int8_t>(8, 1), {8, 1}), {.scales = {0.02F}});
  const Value image = quantize(g.input("image", {1}), {.scale = 0.1});
  const Value inputs[] = {image, layer, Value()};
  g.output("inside", g.ir().add(*ops::quantized_dense_masked().inside,
                                ir::Attrs::of(QuantizedDenseAttrs{.scale = 0.1}), inputs)[0]);
  const ir::Graph graph = ir::with_batch(g.ir(), 1);
  const ir::Graph made = ops::with_sum_gradients(graph);
  ir::verify(made);
  const auto count = [&made](std::string_view op) {
    return std::count_if(made.nodes.begin(), made.nodes.end(),
                         [op](const auto& n) { return n.op->name == op; });
  };
  EXPECT_EQ(count("quantized_sum_grad"), 2);
  EXPECT_EQ(count("grad_by_bits"), 1);
  EXPECT_EQ(count("sum_to"), 0);
  EXPECT_EQ(count("mul"), 1);
}

}  // namespace thimble::test::quantized_sum_grad_test
