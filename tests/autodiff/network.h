// A small network with all kinds of layers, and its evaluation, for tests of whole graphs.
#pragma once

#include <thimble/graph.h>
#include <thimble/ops.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "autodiff/autodiff.h"
#include "harness/uniform.h"
#include "ir/reference.h"
#include "passes/passes.h"

namespace thimble::test {

// An autoencoder and a classifier on one trunk, and their summed squared errors.
inline void describe_network(Graph& g) {
  const Value image = g.input("image", {10, 9, 2});
  const Value wanted = g.label("wanted", {3}, DType::f32);
  const auto mean_square = [](Value difference) { return mean(difference * difference); };
  Value h = conv2d(image, {.channels = 5, .kernel = 3, .padding = 1, .bias = false});
  h = relu(batch_norm(h));
  h = max_pool2d(h, {.kernel = 2});
  h = relu(depthwise_conv2d(h, {.kernel = 3, .padding = 1}));
  const Value trunk = average_pool2d(h, {.kernel = {2, 1}, .stride = {1, 1}});
  const Value logits =
      dense(relu(dense(flatten(trunk), {.units = 7})), {.units = 3, .bias = false});
  Value back = conv_transpose2d(trunk, {.channels = 4,
                                        .kernel = 4,
                                        .stride = 2,
                                        .padding = {0, 1},
                                        .output_padding = {0, 1},
                                        .bias = false});
  back = relu(batch_norm(back));
  back = conv2d(back, {.channels = 2, .kernel = 3, .padding = Padding::same()});
  g.output("logits", logits);
  g.output("back", back);
  g.minimize(mean_square(back - image) + mean_square(logits - wanted));
}

// The training step of the network for a batch; the gradient of every parameter is the output
// "grad(<parameter>)".
inline ir::Graph training_step(const Graph& network, int64_t batch) {
  ir::Graph graph = passes::specialize(ir::with_batch(network.ir(), batch), ir::Phase::training);
  for (const autodiff::Gradient& gradient : autodiff::append_loss_gradients(graph)) {
    graph.outputs.emplace_back("grad(" + graph.data(gradient.value).name + ")", gradient.gradient);
  }
  return graph;
}

// Random contents of every source but constants, by name.
inline std::map<std::string, std::vector<double>> random_sources(const ir::Graph& graph,
                                                                 uint32_t seed) {
  std::mt19937 random(seed);
  std::map<std::string, std::vector<double>> contents;
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    // Running variances are positive; other state may be, too.
    const Uniform uniform(data.role == ir::Role::state ? 0.1 : -0.6, 0.6);
    std::vector<double>& values = contents[data.name];
    values.resize(static_cast<size_t>(data.type.shape.elements()));
    for (double& v : values) v = static_cast<double>(static_cast<float>(uniform(random)));
  }
  return contents;
}

// Every value of the graph by the reference kernels.
inline std::vector<ir::Bytes> run_on(const ir::Graph& graph,
                                     const std::map<std::string, std::vector<double>>& contents,
                                     ir::Precision precision) {
  std::map<int, ir::Bytes> sources;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.producer >= 0 || data.role == ir::Role::constant) continue;
    sources[static_cast<int>(id)] = ir::to_bytes(contents.at(data.name), precision);
  }
  return ir::run_reference(graph, std::move(sources), precision);
}

}  // namespace thimble::test
