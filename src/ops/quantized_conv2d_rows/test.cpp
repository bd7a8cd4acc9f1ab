#include <gtest/gtest.h>

#include "ops/families/quantized/by_rows.h"
#include "ops/families/quantized/quantized_cases.h"
#include "ops/quantized_conv2d_rows/chain.h"

namespace thimble::test::quantized_conv2d_rows_test {
namespace {

using ops::quantized_conv2d_rows_impl::numbers_of;

struct Stage {
  Shape weight;
  QuantizedConv2dAttrs attrs;
};

// Chains of windows that cover few rows or all, that skip rows, and that lie in the padding.
struct Chain {
  const char* name;
  Shape x;
  std::vector<Stage> stages;
  Shape y;
};

QuantizedConv2dAttrs scaled(QuantizedConv2dAttrs attrs, double scale = 0.5) {
  attrs.scale = scale;
  attrs.zero_point = -4;
  return attrs;
}

std::vector<Chain> chains() {
  const auto fixed = Requantization::fixed_point;
  return {
      {"one", {2, 5, 4, 3}, {{{6, 3, 3, 3}, scaled({.padding = 1})}}, {2, 5, 4, 6}},
      {"inverted_residual",
       {2, 9, 7, 4},
       {{{12, 1, 1, 4}, scaled({.activation = Activation::relu})},
        {{12, 3, 3, 1}, scaled({.stride = 2, .padding = 1, .groups = 12}, 1.25)},
        {{5, 1, 1, 12}, scaled({.requantization = fixed}, 2.0)}},
       {2, 5, 4, 5}},
      {"strides_and_large_windows",
       {1, 33, 18, 2},
       {{{4, 3, 3, 2}, scaled({.stride = 2, .padding = 1})},
        {{4, 7, 7, 1}, scaled({.padding = 3, .groups = 4})},
        {{3, 5, 5, 4}, scaled({.stride = 3, .padding = 2})},
        {{4, 2, 2, 3}, scaled({.padding = Padding::same()})}},
       {1, 6, 3, 4}},
      {"padding_wider_than_the_window",
       {1, 3, 3, 2},
       {{{2, 2, 2, 2}, scaled({.padding = 4})}, {{3, 3, 3, 2}, scaled({.padding = 3})}},
       {1, 14, 14, 3}},
      {"dilation",
       {2, 11, 9, 2},
       {{{3, 3, 3, 2}, scaled({.padding = 3, .dilation = 3})},
        {{2, 3, 2, 3}, scaled({.dilation = {2, 1}})}},
       {2, 7, 8, 2}},
      {"empty_batch",
       {0, 5, 4, 3},
       {{{6, 3, 3, 3}, scaled({})}, {{6, 1, 1, 6}, scaled({})}},
       {0, 3, 2, 6}},
  };
}

OpCase case_of(const Chain& chain) {
  OpCase made{.name = chain.name,
              .inputs = {int8_spec(chain.x, {.scales = {0.05F}, .zero_points = {-11}})},
              .expect = {chain.y}};
  std::vector<QuantizedConv2dAttrs> attrs;
  for (const Stage& stage : chain.stages) {
    attrs.push_back(stage.attrs);
    made.inputs.push_back(weight_spec(stage.weight));
    made.inputs.push_back(bias_spec(stage.weight[0]));
  }
  made.attrs = ir::Attrs::of(numbers_of(attrs));
  return made;
}

std::vector<Tensor> drawn(const OpCase& test, std::mt19937& random) {
  std::vector<Tensor> made;
  for (const TensorSpec& spec : test.inputs) {
    if (spec.dtype == DType::i8) {
      made.push_back(quantized_tensor(
          DType::i8, spec.shape, random_int8(spec.shape.elements(), random), spec.quantization));
      continue;
    }
    std::vector<int32_t> numbers;
    for (int64_t i = 0; i < spec.shape.elements(); ++i) {
      numbers.push_back(static_cast<int32_t>(random() % 6001) - 3000);
    }
    made.push_back(tensor(DType::i32, spec.shape, numbers));
  }
  return made;
}

}  // namespace

THIMBLE_OP_CASES(quantized_conv2d_rows) {
  OpCases all;
  for (const Chain& chain : chains()) all.cases.push_back(case_of(chain));
  const TensorSpec x = int8_spec({1, 5, 5, 3}, {.scales = {0.05F}});
  const ir::Attrs two = ir::Attrs::of(numbers_of({scaled({}), scaled({})}));
  all.rejects = {
      {"no_convolution",
       {x, weight_spec({4, 3, 3, 3}), bias_spec(4)},
       ir::Attrs::of(QuantizedConv2dRowsAttrs{}),
       "1 to 8 convolutions"},
      {"too_few_weights", {x, weight_spec({4, 3, 3, 3}), bias_spec(4)}, two, "for each of 2"},
      {"channels_that_do_not_fit",
       {x, weight_spec({4, 3, 3, 3}), bias_spec(4), weight_spec({4, 3, 3, 3}), bias_spec(4)},
       two,
       "expected a weight"},
  };
  return all;
}

TEST(quantized_conv2d_rows, has_the_bits_of_one_convolution_after_another) {
  std::mt19937 random(9);
  for (const Chain& chain : chains()) {
    const OpCase test = case_of(chain);
    const std::vector<Tensor> inputs = drawn(test, random);
    Tensor image = inputs[0];
    for (size_t i = 0; i < chain.stages.size(); ++i) {
      const Stage& stage = chain.stages[i];
      const std::vector<Tensor> own{image, inputs[1 + 2 * i], inputs[2 + 2 * i]};
      const ir::OpDef& op = *ir::find_op("quantized_conv2d");
      const ir::TensorType* const types[] = {&own[0].type, &own[1].type, &own[2].type};
      const ir::Attrs attrs = ir::Attrs::of(stage.attrs);
      const ir::TensorType type = ir::infer_types(op, attrs, types).at(0);
      image = {type, run_op(op, attrs, own, Kernel::reference)[0]};
    }
    EXPECT_EQ(run_op("quantized_conv2d_rows", test.attrs, inputs, Kernel::reference)[0],
              image.bytes)
        << chain.name;
  }
}

size_t count_of(const ir::Graph& graph, const std::string& op) {
  return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                           [&op](const auto& n) { return n.op->name == op; }));
}

Value weight(Graph& g, const std::string& name, const Shape& shape) {
  const std::vector<int8_t> numbers(static_cast<size_t>(shape.elements()), 3);
  return g.constant(name, Array(numbers, shape), {.scales = {0.02F}});
}

Value bias(Graph& g, const std::string& name, int64_t channels) {
  return g.constant(name,
                    Array(std::vector<int32_t>(static_cast<size_t>(channels), 5), {channels}));
}

// A result that another op reads, or that is a result of the graph, stays whole; so do convolutions
// whose neighbours need more memory than they.
TEST(quantized_conv2d_rows, joins_what_alone_is_read_and_is_large) {
  Graph g;
  const Value x = g.input("x", {16, 16, 4}, DType::i8, {.scales = {0.05F}, .zero_points = {1}});
  const Value a =
      quantized_conv2d(x, weight(g, "wa", {32, 1, 1, 4}), bias(g, "ba", 32), scaled({}));
  const Value b = quantized_conv2d(a, weight(g, "wb", {32, 3, 3, 1}), bias(g, "bb", 32),
                                   scaled({.stride = 2, .padding = 1, .groups = 32}));
  const Value c = quantized_conv2d(b, weight(g, "wc", {4, 1, 1, 32}), bias(g, "bc", 4), scaled({}));
  const Value d = quantized_conv2d(c, weight(g, "wd", {4, 1, 1, 4}), bias(g, "bd", 4), scaled({}));
  g.output("sum", quantized_add(c, d, {.scale = 0.5}));
  const ir::Graph graph = ir::with_batch(g.ir(), 1);
  const ir::Graph made = ops::convolutions_by_rows(graph);
  ir::verify(made);
  EXPECT_EQ(count_of(made, "quantized_conv2d_rows"), 1U);
  EXPECT_EQ(count_of(made, "quantized_conv2d"), 1U);
  EXPECT_EQ(made.nodes.size(), graph.nodes.size() - 2);
}

}  // namespace thimble::test::quantized_conv2d_rows_test
