// Gradients of quantized graphs against tangents in double precision, carried forward through the
// definitions of the ops: rounding is the identity, and what is clamped does not move.
#include <gtest/gtest.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "autodiff/autodiff.h"
#include "autodiff/int8_errors_compared.h"
#include "autodiff/quantized_definitions.h"
#include "harness/op_data.h"
#include "ir/graph.h"
#include "ir/reference.h"
#include "ops/families/quantized/int8_errors.h"

namespace thimble::test::quantized_gradient_test {
namespace {

using ir::Precision;

// Factors are rounded to f32 in the graph.
constexpr double kTolerance = 1e-6;
// Every stored error is rounded to 255 steps, which is about 1 % of its norm; gradients sum them
// up, and what cancels leaves more.
constexpr double kLossyTolerance = 0.08;
// Of integers, between a loss of digits and a curved function.
constexpr double kSmallStep = 1e-3;

// A graph of fixed shapes whose sources have random contents.
class Net {
 public:
  explicit Net(uint32_t seed) : random_(seed) {}

  ir::Graph& graph() { return graph_; }
  int draw(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Value int8(const Shape& shape, Quantization q, int low = -128, int high = 127) {
    const ir::TensorType type{DType::i8, shape, std::make_shared<const Quantization>(std::move(q))};
    return whole(type, low, high);
  }
  // Weights with a scale for each index of an axis.
  Value weight(const Shape& shape, int axis = 0) {
    Quantization q{.axis = axis};
    for (int64_t k = 0; k < shape[axis]; ++k) {
      q.scales.push_back(0.01F + 0.002F * static_cast<float>(draw(0, 9)));
    }
    return int8(shape, std::move(q));
  }
  Value bias(int64_t channels) { return whole({DType::i32, {channels}}, -3000, 3000); }
  Value real(const Shape& shape, double low, double high) {
    const Value made = source({DType::f32, shape});
    std::uniform_real_distribution<float> uniform(static_cast<float>(low),
                                                  static_cast<float>(high));
    Numbers numbers(static_cast<size_t>(shape.elements()));
    for (double& v : numbers) v = static_cast<double>(uniform(random_));
    contents_[made.id()] = ir::to_bytes(numbers, Precision::f64);
    return made;
  }

  // Compares the gradients by all sources of a random sum of the elements of y with tangents.
  // clamped: adds the number of elements that were clamped.
  void expect_gradients(Value y, int* clamped = nullptr) {
    if (y.dtype() == DType::i8) y = dequantize(y);
    std::vector<int> wanted;
    for (const auto& [id, bytes] : contents_) wanted.push_back(id);
    const size_t forward = graph_.nodes.size();
    const Value cotangent = real(y.shape(), -1.0, 1.0);
    const autodiff::Cotangent seed{y, cotangent};
    ir::Graph lossy = graph_;
    const auto gradients = autodiff::append_gradients(graph_, {&seed, 1}, wanted);
    ir::verify(graph_);
    const auto values = ir::run_reference(graph_, contents_, Precision::f64);
    const auto numbers = [&](int id) -> Numbers {
      if (id < 0) return {};
      const ir::TensorType& type = graph_.type(id);
      const ir::Bytes& bytes = values[static_cast<size_t>(id)];
      return type.dtype == DType::f32 ? ir::to_doubles(bytes, Precision::f64)
                                      : numbers_of(bytes, type);
    };
    std::vector<Numbers> exact;
    for (const autodiff::Gradient& gradient : gradients) {
      ASSERT_GE(gradient.gradient, 0) << *graph_.data(gradient.value).name;
      EXPECT_EQ(graph_.type(gradient.gradient).dtype, DType::f32);
      const Numbers dx = numbers(gradient.gradient);
      exact.push_back(dx);
      for (int k = 0; k < 2; ++k) {
        Numbers direction(dx.size());
        double expected = 0.0;
        double size = 1e-3;
        std::uniform_real_distribution<double> uniform(-1.0, 1.0);
        for (size_t i = 0; i < dx.size(); ++i) {
          direction[i] = uniform(random_);
          expected += dx[i] * direction[i];
          size += std::abs(dx[i] * direction[i]);
        }
        const Numbers moved = tangent(forward, numbers, gradient.value, direction, y.id(), clamped);
        const Numbers weights = numbers(cotangent.id());
        const double measured =
            std::inner_product(moved.begin(), moved.end(), weights.begin(), 0.0);
        EXPECT_NEAR(expected, measured, kTolerance * size)
            << "by " << *graph_.data(gradient.value).name << " "
            << ir::to_string(graph_.type(gradient.value)) << "\n"
            << ir::text(graph_);
      }
    }
    expect_gradients_of_int8_errors(lossy, y.id(), cotangent.id(), wanted, exact);
  }

 private:
  // Compares the gradients by errors that are stored as int8 with exact ones, also those of the ops
  // that read and write int8 alone.
  void expect_gradients_of_int8_errors(ir::Graph& lossy, int y, int cotangent,
                                       std::span<const int> wanted,
                                       const std::vector<Numbers>& exact) {
    const autodiff::Cotangent seed{lossy.value(y), lossy.value(cotangent)};
    const auto gradients = autodiff::append_gradients(lossy, {&seed, 1}, wanted, DType::i8);
    for (const autodiff::Gradient& gradient : gradients) {
      lossy.outputs.emplace_back(*lossy.data(gradient.value).name, gradient.gradient);
    }
    ir::verify(lossy);
    const ir::Graph joined = ops::with_int8_errors(lossy);
    ir::verify(joined);
    const auto starts_with = [](std::string_view start) {
      return [start](const ir::Node& n) { return std::string_view(n.op->name).starts_with(start); };
    };
    const bool has_layers = std::any_of(lossy.nodes.begin(), lossy.nodes.end(),
                                        starts_with("quantized_conv2d_input_grad"));
    const bool has_errors =
        std::any_of(lossy.nodes.begin(), lossy.nodes.end(), starts_with("error_from_int8"));
    if (has_layers && has_errors) {
      EXPECT_TRUE(std::any_of(joined.nodes.begin(), joined.nodes.end(), starts_with("int8_error_")))
          << ir::text(lossy);
    }
    const std::vector<ir::Bytes> values = ir::run_reference(lossy, contents_, Precision::f64);
    std::map<int, ir::Bytes> contents;  // by the numbers of the other graph
    for (size_t id = 0; id < joined.values.size(); ++id) {
      for (const auto& [source, bytes] : contents_) {
        const bool is_source = joined.values[id].producer < 0;
        if (is_source && joined.values[id].name == lossy.data(source).name) {
          contents[static_cast<int>(id)] = bytes;
        }
      }
    }
    const std::vector<ir::Bytes> others = ir::run_reference(joined, contents, Precision::f64);
    const double tolerance = has_rounded_factors(joined) ? kFactorTolerance : kExactTolerance;
    for (size_t i = 0; i < gradients.size(); ++i) {
      expect_near(output_of(joined, others, i), output_of(lossy, values, i), tolerance, joined);
      for (const bool is_joined : {false, true}) {
        const ir::Graph& graph = is_joined ? joined : lossy;
        const Numbers dx = output_of(graph, is_joined ? others : values, i);
        expect_near(dx, exact[i], kLossyTolerance, graph, 1e-6);
      }
    }
  }

  Value source(ir::TensorType type) {
    return graph_.source("s" + std::to_string(graph_.values.size()), std::move(type),
                         ir::Role::input);
  }
  Value whole(const ir::TensorType& type, int low, int high) {
    const Value made = source(type);
    Numbers numbers(static_cast<size_t>(type.shape.elements()));
    for (double& v : numbers) v = draw(low, high);
    contents_[made.id()] = bytes_of(numbers, type.dtype);
    return made;
  }

  // How the elements of `target` move as those of `source` move in a direction.
  template <class Of>
  Numbers tangent(size_t forward, const Of& numbers, int source, const Numbers& direction,
                  int target, int* clamped) const {
    std::map<int, Numbers> moves{{source, direction}};
    for (size_t n = 0; n < forward; ++n) {
      const ir::Node& node = graph_.nodes[n];
      const Definition definition(graph_, node);
      // Of linear functions a whole step says exactly how much they move.
      const double step = definition.is_linear() ? 1.0 : kSmallStep;
      std::vector<Numbers> base;
      std::vector<Numbers> up;
      std::vector<Numbers> down;
      bool any = false;
      for (const int id : node.inputs) {
        base.push_back(numbers(id));
        up.push_back(base.back());
        down.push_back(base.back());
        const auto move = moves.find(id);
        if (id < 0 || move == moves.end()) continue;
        any = true;
        for (size_t i = 0; i < base.back().size(); ++i) {
          up.back()[i] += step * move->second[i];
          down.back()[i] -= step * move->second[i];
        }
      }
      if (!any) continue;
      Numbers& move = moves[node.outputs[0]];
      if (std::string(node.op->name) == "max_pool2d") {
        const Numbers& x = moves.at(node.inputs[0]);
        for (const size_t place : places_of_maxima(graph_, node, base[0])) move.push_back(x[place]);
        continue;
      }
      const Numbers a = definition.unrounded(up);
      const Numbers b = definition.unrounded(down);
      const Numbers at = definition.unrounded(base);
      const Numbers given = numbers(node.outputs[0]);
      const std::optional<Bounds> bounds = definition.bounds();
      const bool is_whole = graph_.type(node.outputs[0]).dtype == DType::i8;
      for (size_t i = 0; i < a.size(); ++i) {
        const double rounded = is_whole ? std::nearbyint(at[i]) : at[i];
        const bool inside = !bounds || (rounded >= bounds->low && rounded <= bounds->high);
        const double clamped_value =
            bounds ? std::clamp(rounded, bounds->low, bounds->high) : rounded;
        // The definition computes what the op does, but for halves.
        EXPECT_NEAR(given[i], clamped_value, is_whole ? 1.0 : 1e-5 * (1.0 + std::abs(at[i])))
            << node.op->name;
        if (!inside && clamped != nullptr) ++*clamped;
        move.push_back(inside ? (a[i] - b[i]) / (2.0 * step) : 0.0);
      }
    }
    return moves.at(target);
  }

  ir::Graph graph_;
  std::mt19937 random_;
  std::map<int, ir::Bytes> contents_;
};

Quantization with_scale(float scale, int32_t zero_point) { return {{scale}, {zero_point}}; }
const Quantization kX = with_scale(0.05F, -11);

// A scale under which sums of so many products fill int8 and a little more.
double result_scale(int64_t products) {
  return 0.05 * 0.018 * 74.0 * 74.0 * std::sqrt(static_cast<double>(products)) / 70.0;
}

TEST(quantized_gradient, of_convolutions_is_straight_through) {
  struct Case {
    Shape x, weight;
    QuantizedConv2dAttrs attrs;
    bool bias = true;
  };
  const Case cases[] = {
      {{2, 5, 4, 3}, {4, 1, 1, 3}, {}},
      {{2, 6, 5, 3}, {4, 3, 3, 3}, {.stride = 2, .padding = 1}},
      {{1, 6, 5, 4}, {4, 3, 3, 1}, {.padding = 1, .groups = 4}},
      {{1, 6, 6, 4}, {6, 3, 2, 2}, {.padding = {2, 1, 0, 1}, .dilation = {1, 2}, .groups = 2}},
      {{2, 5, 5, 3}, {4, 3, 3, 3}, {.padding = 1, .activation = Activation::relu}},
      {{2, 5, 5, 3}, {4, 3, 3, 3}, {.activation = Activation::relu6}, false},
  };
  int clamped = 0;
  for (const Requantization how : {Requantization::floating, Requantization::fixed_point}) {
    for (const Case& c : cases) {
      Net net(static_cast<uint32_t>(clamped) + 1);
      QuantizedConv2dAttrs attrs = c.attrs;
      attrs.scale = result_scale(c.weight.elements() / c.weight[0]);
      attrs.zero_point = -4;
      attrs.requantization = how;
      const Value x = net.int8(c.x, kX);
      const Value w = net.weight(c.weight);
      net.expect_gradients(quantized_conv2d(x, w, c.bias ? net.bias(c.weight[0]) : Value(), attrs),
                           &clamped);
    }
  }
  EXPECT_GT(clamped, 50);
}

TEST(quantized_gradient, of_transposed_convolutions_is_straight_through) {
  int clamped = 0;
  for (const int groups : {1, 2}) {
    for (const Activation activation : {Activation::none, Activation::relu}) {
      Net net(static_cast<uint32_t>(groups));
      const Value x = net.int8({2, 4, 3, 4}, kX);
      const Value w = net.weight({4, 3, 3, 6 / groups}, 3);
      net.expect_gradients(quantized_conv_transpose2d(x, w, net.bias(6),
                                                      {.stride = 2,
                                                       .padding = 1,
                                                       .output_padding = 1,
                                                       .groups = groups,
                                                       .activation = activation,
                                                       .scale = result_scale(4),
                                                       .zero_point = 7}),
                           &clamped);
    }
  }
  EXPECT_GT(clamped, 10);
}

TEST(quantized_gradient, of_dense_layers_is_straight_through) {
  int clamped = 0;
  for (const Shape& shape : {Shape{5, 12}, Shape{2, 3, 12}}) {
    for (const Activation activation : {Activation::none, Activation::relu, Activation::relu6}) {
      Net net(5);
      const Value x = net.int8(shape, kX);
      const Value w = net.weight({7, 12});
      net.expect_gradients(
          quantized_dense(x, w, net.bias(7),
                          {.activation = activation, .scale = result_scale(12), .zero_point = 3}),
          &clamped);
    }
  }
  EXPECT_GT(clamped, 10);
}

TEST(quantized_gradient, of_sums_and_products_is_that_of_each_scale) {
  int clamped = 0;
  const std::pair<Shape, Shape> shapes[] = {
      {{3, 17}, {3, 17}}, {{2, 3, 4, 5}, {2, 1, 1, 5}}, {{3, 1}, {1, 19}}, {{}, {4}}};
  for (const auto& [a, b] : shapes) {
    for (const Activation activation : {Activation::none, Activation::relu}) {
      Net add(1);
      const Value left = add.int8(a, kX);
      const Value right = add.int8(b, with_scale(0.13F, 40));
      add.expect_gradients(quantized_add(left, right, {activation, 0.09, 6}), &clamped);
      Net mul(2);
      const Value first = mul.int8(a, kX);
      const Value second = mul.int8(b, with_scale(0.13F, 40));
      mul.expect_gradients(quantized_mul(first, second, {activation, 0.3, 6}), &clamped);
      Net sub(3);
      const Value from = sub.int8(a, kX);
      const Value less = sub.int8(b, with_scale(0.13F, 40));
      sub.expect_gradients(quantized_sub(from, less, {activation, 0.09, 6}), &clamped);
    }
  }
  EXPECT_GT(clamped, 50);
}

TEST(quantized_gradient, of_tables_is_that_of_their_functions) {
  int clamped = 0;
  for (const double scale : {0.0078125, 0.0031}) {
    Net sigmoids(1);
    sigmoids.expect_gradients(
        quantized_sigmoid(sigmoids.int8({3, 41}, kX), {.scale = scale / 2.0, .zero_point = -128}),
        &clamped);
    Net tanhs(2);
    tanhs.expect_gradients(quantized_tanh(tanhs.int8({3, 41}, kX), {.scale = scale}), &clamped);
  }
  EXPECT_GT(clamped, 50);
}

TEST(quantized_gradient, of_pools_and_means_spreads) {
  Net pool(1);
  pool.expect_gradients(quantized_average_pool2d(pool.int8({2, 6, 5, 3}, kX),
                                                 {.kernel = 3, .stride = 2, .padding = 1}));
  Net global(2);
  global.expect_gradients(quantized_global_average_pool2d(global.int8({2, 4, 4, 3}, kX)));
  Net largest(3);
  largest.expect_gradients(max_pool2d(largest.int8({2, 6, 4, 3}, kX), {.kernel = 2}));
  int clamped = 0;
  Net mean(4);
  mean.expect_gradients(quantized_mean(mean.int8({3, 5, 4, 6}, kX),
                                       {.axes = {1, 2}, .scale = 0.003, .zero_point = 5}),
                        &clamped);
  EXPECT_GT(clamped, 0);
}

TEST(quantized_gradient, of_ops_that_move_int8_goes_back_to_its_place) {
  Net pads(1);
  pads.expect_gradients(
      pad(pads.int8({2, 3, 4, 2}, kX), {.before = {0, 1, 2, 0}, .after = {0, 0, 1, 3}}));
  Net parts(2);
  const Value a = parts.int8({2, 3, 2}, kX);
  parts.expect_gradients(concat({a, parts.int8({2, 3, 4}, kX), a}, {.axis = -1}));
  for (const Upsampling mode : {Upsampling::nearest, Upsampling::bilinear}) {
    Net larger(3);
    larger.expect_gradients(upsample2d(larger.int8({2, 3, 4, 2}, kX), {.scale = 2, .mode = mode}));
  }
  Net flat(4);
  flat.expect_gradients(flatten(flat.int8({2, 3, 4}, kX)));
}

TEST(quantized_gradient, passes_from_f32_to_int8_and_back) {
  int clamped = 0;
  Net net(1);
  net.expect_gradients(quantize(net.real({4, 31}, -9.0, 9.0), {.scale = 0.05, .zero_point = 20}),
                       &clamped);
  EXPECT_GT(clamped, 10);
  Net again(2);
  again.expect_gradients(requantize(again.int8({3, 41}, kX), {.scale = 0.03, .zero_point = 9}),
                         &clamped);
  Net axis(3);
  axis.expect_gradients(dequantize(axis.weight({3, 5, 2}, 1)));
}

TEST(quantized_gradient, sums_what_comes_by_several_ways) {
  Net net(1);
  const Value x = net.int8({1, 5, 5, 4}, kX);
  const Value w = net.weight({4, 3, 3, 4});
  const QuantizedConv2dAttrs attrs{.padding = 1, .scale = result_scale(36), .zero_point = -6};
  const Value b = net.bias(4);
  const Value once = quantized_conv2d(x, w, b, attrs);
  const Value twice = quantized_conv2d(once, w, b, attrs);  // the same weights
  const Value sum = quantized_add(x, twice, {.scale = 0.08});
  net.expect_gradients(quantized_mul(sum, once, {.scale = 0.3}));
}

// One more layer on top of the values so far.
Value with_another_layer(Net& net, std::vector<Value>& all) {
  const Value x = all[static_cast<size_t>(net.draw(0, static_cast<int>(all.size()) - 1))];
  const Shape& shape = x.shape();
  const double scale = static_cast<double>(x.quantization()->scales[0]);
  const auto activation = static_cast<Activation>(net.draw(0, 2));
  // Fixed point rounds twice: where it clamps, the definition may not.
  const auto how = Requantization::floating;
  const int64_t channels = shape[3];
  switch (net.draw(0, 8)) {
    case 0: {
      const Value y = all.back();
      if (y.shape() != shape) break;
      const double result = 1.2137 * scale;
      const int64_t zero = net.draw(-20, 20);
      if (net.draw(0, 1) == 0) return quantized_sub(x, y, {activation, result, zero, how});
      return quantized_add(x, y, {activation, result, zero, how});
    }
    case 1:
      return quantized_mul(x, net.int8({1, 1, 1, channels}, with_scale(0.1013F, 5)),
                           {activation, 6.137 * scale, net.draw(-20, 20), how});
    case 2:
      if (shape[1] % 2 != 0 || shape[2] % 2 != 0) break;
      return max_pool2d(x, {.kernel = 2});
    case 3:
      return quantized_average_pool2d(x, {.kernel = 2, .stride = 1, .padding = 1});
    case 4:
      return requantize(x, {0.8137 * scale, net.draw(-20, 20), how});
    case 5:
      return concat({x, x}, {.axis = 3});
    case 6:
      return quantized_conv2d(x, net.weight({channels, 3, 3, 1}), net.bias(channels),
                              {.padding = 1,
                               .groups = channels,
                               .activation = activation,
                               .scale = scale * 20.0 * result_scale(9),
                               .zero_point = net.draw(-20, 20),
                               .requantization = how});
    case 7:
      return pad(x, {.before = {0, 1, 0, 0}, .after = {0, 0, 1, 0}});
    default:
      break;
  }
  const int64_t more = net.draw(2, 4);
  return quantized_conv2d(x, net.weight({more, 2, 2, channels}), net.bias(more),
                          {.padding = {1, 0, 1, 0},
                           .activation = activation,
                           .scale = scale * 20.0 * result_scale(4 * channels),
                           .zero_point = net.draw(-20, 20),
                           .requantization = how});
}

TEST(quantized_gradient, of_random_networks_is_straight_through) {
  int clamped = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Net net(seed);
    std::vector<Value> all{net.int8({2, 4, 4, 3}, kX)};
    const int layers = net.draw(2, 6);
    for (int i = 0; i < layers; ++i) all.push_back(with_another_layer(net, all));
    // The result depends on every value, and so on every source.
    std::vector<Value> ends;
    for (const Value& value : all) {
      const double scale = static_cast<double>(value.quantization()->scales[0]);
      ends.push_back(dequantize(quantized_mean(value, {.axes = {1, 2}, .scale = 0.3137 * scale})));
    }
    net.expect_gradients(concat(ends, {.axis = -1}), &clamped);
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(clamped, 1000);
}

}  // namespace
}  // namespace thimble::test::quantized_gradient_test
