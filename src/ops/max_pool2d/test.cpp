#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autodiff/autodiff.h"
#include "harness/op_run.h"
#include "ops/families/pool/pool_cases.h"
#include "ops/families/pool/pool_kernels.h"
#include "ops/families/quantized/quantized_cases.h"
#include "passes/passes.h"

namespace thimble::test::max_pool2d_test {
namespace {

OpCase pooled(const char* name, const Shape& x, const Shape& y, const MaxPool2dAttrs& attrs = {}) {
  return {.name = name,
          .inputs = {{.shape = x, .distinct = true}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {y, y}};
}

RejectCase refused(const char* name, const Shape& x, const char* error,
                   const MaxPool2dAttrs& attrs = {}) {
  return {name, {{.shape = x}}, ir::Attrs::of(attrs), error};
}

}  // namespace

THIMBLE_OP_CASES(max_pool2d) {
  const OpCases own{
      .cases =
          {
              pooled("overlapping", {3, 9, 8, 4}, {3, 4, 3, 4}, {.kernel = 3, .stride = 2}),
              pooled("many_channels", {2, 9, 8, 20}, {2, 5, 4, 20},
                     {.kernel = 3, .stride = 2, .padding = 1}),
              pooled("gaps_between_windows", {2, 9, 9, 17}, {2, 3, 3, 17},
                     {.kernel = 2, .stride = 3}),
              pooled("window_of_each_axis", {1, 7, 6, 3}, {1, 7, 2, 3}, {.kernel = {1, 3}}),
              pooled("dilated", {2, 9, 8, 3}, {2, 5, 2, 3},
                     {.kernel = 3, .stride = {1, 2}, .dilation = 2}),
              pooled("dilated_padded", {2, 7, 6, 3}, {2, 3, 3, 3},
                     {.kernel = {2, 3},
                      .stride = {3, 2},
                      .padding = 1,
                      .dilation = {3, 2},
                      .ceil_mode = true}),
              pooled("window_beyond_the_image", {2, 2, 3, 2}, {2, 1, 1, 2},
                     {.kernel = {3, 4}, .stride = 2, .ceil_mode = true}),
              pooled("window_of_255_cells", {1, 15, 17, 2}, {1, 1, 1, 2}, {.kernel = {15, 17}}),
              pooled("window_of_more_than_255_cells", {1, 18, 19, 17}, {1, 2, 2, 17},
                     {.kernel = 16, .stride = {2, 3}}),
          },
      .rejects =
          {
              refused("windows_in_the_padding", {1, 1, 3, 2}, "hold a cell",
                      {.kernel = 2, .stride = 1, .padding = 1, .dilation = 2}),
              refused("no_window", {1, 3, 3, 2}, "a window of at least 1 by 1", {.kernel = 0}),
              refused("a_negative_stride", {1, 3, 3, 2}, "stride of at least 1", {.stride = -1}),
              refused("more_cells_than_an_int_counts", {1, 1, 1, 2}, "at most 2147483647 cells",
                      {.kernel = 1 << 17, .stride = 1 << 20, .padding = (1 << 17) - 1}),
              refused("a_window_beyond_an_int", {1, 1, 1, 2}, "is too large; dilate less",
                      {.kernel = {1 << 12, 1},
                       .stride = 1 << 20,
                       .padding = Padding::same(),
                       .dilation = {1 << 20, 1}}),
          },
  };
  return pool_cases<MaxPool2dAttrs>(pooled, refused) + own;
}

THIMBLE_OP_CASES(max_pool2d_inference) {
  const auto pooled = [](const char* name, const Shape& x, const Shape& y,
                         const MaxPool2dAttrs& attrs = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .distinct = true}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {y}};
  };
  return {.cases = {pooled("halves", {3, 8, 6, 6}, {3, 4, 3, 6}),
                    pooled("overlapping_padded", {3, 9, 8, 4}, {3, 5, 4, 4},
                           {.kernel = 3, .stride = 2, .padding = 1})}};
}

THIMBLE_OP_CASES(max_pool2d_cells) {
  const auto of = [](const char* name, const Shape& shape, DType dtype, double cells,
                     const MaxPool2dGradAttrs& attrs) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .dtype = dtype, .low = 0, .high = cells - 1}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {shape}};
  };
  return {.cases = {of("halves", {2, 3, 2, 4}, DType::u8, 4, {.size = {6, 4}}),
                    of("dilated", {2, 3, 3, 3}, DType::u8, 6,
                       {.size = {8, 9}, .kernel = {2, 3}, .stride = 2, .dilation = 2}),
                    of("wide", {1, 1, 2, 3}, DType::i32, 256,
                       {.size = {16, 18}, .kernel = 16, .stride = 2})},
          .rejects = {{"wide_places",
                       {{.shape = {1, 1, 1, 1}, .dtype = DType::i32}},
                       ir::Attrs::of(MaxPool2dGradAttrs{.size = {2, 2}}),
                       "must be u8"},
                      {"no_window",
                       {{.shape = {1, 1, 1, 1}, .dtype = DType::u8}},
                       ir::Attrs::of(MaxPool2dGradAttrs{.size = {2, 2}, .kernel = 0}),
                       "a window of at least 1 by 1"},
                      {"another_size",
                       {{.shape = {1, 2, 1, 1}, .dtype = DType::u8}},
                       ir::Attrs::of(MaxPool2dGradAttrs{.size = {2, 2}}),
                       "as large as the pooling's result"}}};
}

THIMBLE_OP_CASES(max_pool2d_pack) {
  const auto of = [](const char* name, const Shape& shape, double cells, Pair kernel, int bits) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .dtype = DType::u8, .low = 0, .high = cells - 1}},
                  .attrs = ir::Attrs::of(MaxPool2dGradAttrs{.size = {64, 64}, .kernel = kernel}),
                  .expect = {{shape[0], shape[1], shape[2], shape[3], bits}}};
  };
  return {.cases = {of("two_cells", {3, 3, 2, 3}, 2, {1, 2}, 1),
                    of("four_cells", {3, 5, 3, 3}, 4, 2, 2),
                    of("nine_cells", {1, 3, 3, 5}, 9, 3, 4), of("many", {3, 50, 50, 7}, 4, 2, 2)},
          .rejects = {{"a_large_window",
                       {{.shape = {1, 1, 1, 1}, .dtype = DType::u8}},
                       ir::Attrs::of(MaxPool2dGradAttrs{.size = {5, 5}, .kernel = 5}),
                       "at most 16 cells"}}};
}

THIMBLE_OP_CASES(max_pool2d_packed_grad) {
  const auto of = [](const char* name, const Shape& dy, const MaxPool2dGradAttrs& attrs, int bits) {
    return OpCase{
        .name = name,
        .inputs = {{.shape = dy},
                   {.shape = {dy[0], dy[1], dy[2], dy[3], bits}, .dtype = DType::boolean}},
        .attrs = ir::Attrs::of(attrs),
        .expect = {{dy[0], attrs.size.h, attrs.size.w, dy[3]}}};
  };
  return {
      .cases = {of("halves", {3, 4, 3, 5}, {.size = {8, 6}}, 2),
                of("overlapping", {2, 4, 4, 3}, {.size = {5, 5}, .stride = 1}, 2),
                of("many_channels", {2, 4, 3, 37}, {.size = {8, 6}}, 2),
                of("beside_the_windows", {2, 4, 3, 37}, {.size = {9, 7}}, 2),
                of("overlapping_channels", {2, 4, 4, 20}, {.size = {5, 5}, .stride = 1}, 2),
                of("columns", {2, 7, 2, 3}, {.size = {7, 5}, .kernel = {1, 2}}, 1),
                of("large", {2, 3, 4, 3}, {.size = {12, 16}, .kernel = 4}, 4)},
      .rejects = {{"bits_of_another_window",
                   {{.shape = {1, 2, 2, 1}}, {.shape = {1, 2, 2, 1, 4}, .dtype = DType::boolean}},
                   ir::Attrs::of(MaxPool2dGradAttrs{.size = {4, 4}}),
                   "of the shape of dy"}}};
}

namespace {

// Windows with padding and equal values, too: the places of max_pool2d itself.
TEST(max_pool2d, has_the_same_gradient_with_packed_places) {
  const MaxPool2dAttrs attrs{.kernel = 3, .stride = 2, .padding = 1};
  std::vector<float> x(2 * 9 * 8 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 31 % 7);
  const auto pooled =
      run_op("max_pool2d", ir::Attrs::of(attrs), {tensor({2, 9, 8, 5}, x)}, Kernel::fast);
  const Shape shape{2, 5, 4, 5};
  std::vector<float> dy(2 * 5 * 4 * 5);
  for (size_t i = 0; i < dy.size(); ++i) dy[i] = 0.1F * static_cast<float>(i % 11) - 0.3F;
  const auto grad_attrs =
      ir::Attrs::of(MaxPool2dGradAttrs{.size = {9, 8}, .kernel = 3, .stride = 2, .padding = 1});
  const ir::MaskRule rule = ir::find_op("max_pool2d_grad")->memory.mask(grad_attrs);
  const Tensor index = tensor(DType::u8, shape, pooled[1]);
  for (const Kernel which : {Kernel::reference, Kernel::fast}) {
    const auto whole = run_op("max_pool2d_grad", grad_attrs, {tensor(shape, dy), index}, which);
    const auto bits = run_op(rule.make->name, rule.make_attrs, {index}, which);
    const Tensor packed = tensor(DType::boolean, {2, 5, 4, 5, 4}, bits[0]);
    EXPECT_EQ(run_op(rule.read->name, rule.read_attrs, {tensor(shape, dy), packed}, which), whole);
  }
}

// A file may hold any places, which must not lead the gradient out of its image.
TEST(max_pool2d, has_no_gradient_at_places_outside_the_image) {
  const Shape dy{1, 1, 1, 2};
  const std::vector<float> gradient{1.0F, 2.0F};
  const std::vector<float> none(8);
  for (const Kernel which : {Kernel::reference, Kernel::fast}) {
    // Place 0 of this window lies in the padding.
    const auto attrs = ir::Attrs::of(
        MaxPool2dGradAttrs{.size = 2, .kernel = 3, .stride = 3, .padding = {1, 0, 1, 0}});
    for (const uint8_t place : {0, 9, 255}) {
      const Tensor index = tensor(DType::u8, dy, std::vector{place, place});
      EXPECT_EQ(run_op("max_pool2d_grad", attrs, {tensor(dy, gradient), index}, which)[0],
                tensor({1, 2, 2, 2}, none).bytes);
    }
  }
}

// The gradient of relu follows from the maxima of the windows, bit for bit. Windows overlap, and
// values are equal or below 0.
TEST(max_pool2d, lets_an_activation_before_it_choose_among_windows) {
  Graph g;
  const Shape shape{2, 7, 6, 3};
  std::vector<float> numbers(2 * 7 * 6 * 3);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 0.5F * static_cast<float>(i * 31 % 7) - 1;
  std::vector<float> factors(2 * 3 * 2 * 3);
  for (size_t i = 0; i < factors.size(); ++i) factors[i] = 0.3F * static_cast<float>(i % 5) - 0.5F;
  const Value x = g.constant("x", shape, numbers);
  const Value y = relu(x);
  const std::vector<Value> pooled = g.ir().add(
      *ir::find_op("max_pool2d"), ir::Attrs::of(MaxPool2dAttrs{.kernel = 3, .stride = 2}), {&y, 1});
  const Value dy = g.constant("dy", {2, 3, 2, 3}, factors);
  const autodiff::Cotangent seed{pooled[0], dy};
  const int wanted[] = {x.id()};
  const auto gradients = autodiff::append_gradients(g.ir(), {&seed, 1}, wanted);
  const Value dx = g.ir().value(gradients[0].gradient);
  EXPECT_STREQ(g.ir().producer_of(dx.id())->op->name, "max_pool2d_grad");
  const Value cell_by_cell =
      relu_grad(max_pool2d_grad(dy, pooled[1], {.size = {7, 6}, .kernel = 3, .stride = 2}), y);
  const std::vector<float> expected = evaluate(cell_by_cell);
  EXPECT_EQ(evaluate(dx), expected);
  EXPECT_THAT(expected, testing::Contains(0.0F));
  EXPECT_THAT(expected, testing::Contains(testing::Ne(0.0F)));
}

TEST(max_pool2d, keeps_one_byte_an_output_for_training_and_none_at_inference) {
  Graph g;
  g.output("y", max_pool2d(g.input("x", {4, 4, 6})));
  EXPECT_EQ(g.ir().type(g.ir().nodes[0].outputs[1]).dtype, DType::u8);
  const ir::Graph graph = passes::specialize(g.ir(), ir::Phase::inference);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1U);
}

// NaN must pass through a pool, so that it reaches the loss and is reported.
TEST(max_pool2d, passes_nan_on) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  pool_dims d{};
  d.n = d.p = d.q = d.stride_h = d.stride_w = d.dilation_h = d.dilation_w = 1;
  d.h = d.w = d.r = d.s = 2;
  d.c = 3;
  const std::vector<float> x = {kNan, 1, 1, 2, kNan, 2, 3, 3, 3, 4, 4, 4};
  std::vector<float> y(3);
  std::vector<uint8_t> index(3);
  parallel::ThreadPool pool(1);
  ops::max_pool2d_impl::max_pool2d_simd(y.data(), index.data(), x.data(), &d, pool);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 4.0F);
  EXPECT_EQ(index, (std::vector<uint8_t>{0, 1, 3}));
}

TEST(max_pool2d, keeps_the_quantization) {
  const Quantization q{.scales = {0.5F}, .zero_points = {-3}};
  const Tensor x = quantized_tensor<int8_t>(DType::i8, {1, 2, 2, 1}, {-128, 7, -3, 5}, q);
  const auto y = run_op("max_pool2d", ir::Attrs::of(MaxPool2dAttrs()), {x}, Kernel::fast);
  EXPECT_EQ(values_of<int8_t>(y[0]), (std::vector<int8_t>{7}));
  EXPECT_EQ(values_of<uint8_t>(y[1]), (std::vector<uint8_t>{1}));
  Graph g;
  EXPECT_EQ(*max_pool2d(g.input("x", {4, 4, 3}, DType::i8, q)).quantization(), q);
}

TEST(max_pool2d, pools_whole_images) {
  Graph g;
  EXPECT_EQ(to_string(global_max_pool2d(g.input("x", {4, 5, 6})).shape()), "[N, 6]");
  EXPECT_THAT([&] { global_max_pool2d(g.input("v", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("[N, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test::max_pool2d_test
