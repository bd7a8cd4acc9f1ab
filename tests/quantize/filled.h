// Graphs with random weights, and samples for them.
#pragma once

#include <thimble/thimble.h>

#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace thimble::test {

inline std::vector<float> uniform(int64_t count, double low, double high, std::mt19937& random) {
  std::uniform_real_distribution<float> draw(static_cast<float>(low), static_cast<float>(high));
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

// A network of most layers with an int8 form, up to a clipped convolution: [N, 4, 4, 6].
inline Value classifier_body(Graph& g) {
  const Value x = g.input("x", {8, 8, 3});
  Value y = relu6(batch_norm(
      conv2d(x, {.channels = 8, .kernel = 3, .padding = 1, .bias = false, .name = "first"})));
  const Value a = max_pool2d(y, {.kernel = 2});
  const Value b = average_pool2d(conv2d(y, {.channels = 4, .kernel = 1, .name = "side"}));
  y = concat({a, b});
  y = dropout(y + batch_norm(depthwise_conv2d(y, {.kernel = 3, .padding = 1, .name = "deep"})),
              {.p = 0.5});
  return clip(conv2d(y, {.channels = 6, .kernel = 1, .name = "clipped"}),
              {.low = -0.4, .high = 0.4});
}

// The mean of each channel of padded images: [N, C].
inline Value padded_mean(Value y) {
  return mean(pad(y, {.before = {0, 1, 0, 0}, .after = {0, 0, 1, 0}}), {.axes = {1, 2}});
}

// Output, loss and metric of a network that tells kinds.
inline void classify(Graph& g, Value logits) {
  g.output("y", logits);
  const Value kind = g.label("kind");
  g.minimize(softmax_cross_entropy(logits, kind));
  g.metric("accuracy", accuracy(logits, kind));
}

inline std::vector<std::string> ops_of(const Graph& g) {
  std::vector<std::string> ops;
  for (const ir::Node& node : g.ir().nodes) ops.emplace_back(node.op->name);
  return ops;
}

// Gives parameters and running statistics of f32 random values.
inline void fill(Graph& g, std::mt19937& random) {
  for (ir::ValueData& data : g.ir().values) {
    if (data.producer >= 0 || !ir::is_persistent(data.role)) continue;
    const Shape& shape = data.type.shape;
    const bool is_variance = data.name->ends_with("running_var");
    const double size =
        shape.rank() > 1
            ? 1.5 / std::sqrt(static_cast<double>(shape.elements()) / static_cast<double>(shape[0]))
            : 0.5;
    data.data = Array(is_variance ? uniform(shape.elements(), 0.5, 2.0, random)
                                  : uniform(shape.elements(), -size, size, random),
                      shape);
  }
}

inline const ir::ValueData& source_of(const Graph& g, std::string_view name) {
  for (const ir::ValueData& data : g.ir().values) {
    if (data.producer < 0 && data.name == name) return data;
  }
  throw Error(std::string(name), "the graph has no such source");
}

// Samples of one input "x".
inline data::Dataset samples_of(const Shape& sample, int64_t count, std::mt19937& random,
                                double low = -1.0, double high = 1.0) {
  return data::in_memory({{"x", sample}},
                         {Array(uniform(count * sample.elements(), low, high, random))});
}

// The output "y" for these samples.
inline Array predicted(const Graph& g, const data::Dataset& samples) {
  const data::Field& field = samples.fields()[0];
  std::vector<float> x(static_cast<size_t>(samples.size() * field.shape.elements()));
  for (int64_t i = 0; i < samples.size(); ++i) {
    void* const to = x.data() + i * field.shape.elements();
    samples.read(i, {&to, 1});
  }
  return Predictor(g, 4).run({{field.name, Array(std::move(x))}}).at("y");
}

}  // namespace thimble::test
