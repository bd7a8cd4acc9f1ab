// Random models of which random parts are trained.
#include "train/scheme.h"

#include <random>
#include <set>

#include "ir/reference.h"
#include "properties/random_models.h"
#include "train/scheme_layers.h"

namespace thimble::test::scheme_test {
namespace {

using ir::Precision;

int trained_in_part = 0;

// Some parameters, and some channels of those that have input channels.
train::TrainedParameters random_parts(const ir::Graph& model, uint32_t seed) {
  std::mt19937 random(seed);
  const auto one_in = [&](uint32_t n) { return random() % n == 0; };
  train::TrainedParameters trained;
  for (const train::SchemeLayer& layer : train::layers_of(model)) {
    for (const int id : layer.biases) {
      if (one_in(2)) trained.emplace(*model.data(id).name, ir::TrainedPart{});
    }
    for (const int id : layer.weights) {
      if (one_in(4)) continue;
      ir::TrainedPart part;
      const Shape& shape = model.type(id).shape;
      // Parts along other axes have no rule of their own: they are cut from the whole gradient.
      if (shape.rank() > 0 && shape.elements() > 0 && !one_in(4)) {
        const auto axis = layer.axes.find(id);
        part.axis = axis != layer.axes.end() && !one_in(4)
                        ? axis->second
                        : static_cast<int>(random() % static_cast<uint32_t>(shape.rank()));
        for (int64_t i = 0; i < shape[part.axis]; ++i) {
          if (!one_in(2)) part.indices.push_back(i);
        }
        if (static_cast<int64_t>(part.indices.size()) == shape[part.axis]) part.indices.clear();
        trained_in_part += part.indices.empty() ? 0 : 1;
      }
      trained.emplace(*model.data(id).name, part);
    }
  }
  return trained;
}

ir::Graph forward_of(const RandomModel& model) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.graph.ir(), model.batch), ir::Phase::training);
  graph.outputs.clear();
  return graph;
}

ir::Graph with_outputs(ir::Graph graph) {
  for (const autodiff::Gradient& gradient : autodiff::append_loss_gradients(graph)) {
    if (gradient.gradient < 0) continue;
    graph.outputs.emplace_back(graph.data(gradient.value).name, gradient.gradient);
  }
  return graph;
}

// Reference kernels take sums in one order, whatever the sizes: bits are equal.
std::string parts_differ(const RandomModel& model, uint32_t seed) {
  const train::TrainedParameters trained = random_parts(model.graph.ir(), seed);
  ir::Graph sparse = forward_of(model);
  train::mark_trained(trained, sparse);
  sparse = passes::slice_early(with_outputs(std::move(sparse)));
  ir::verify(sparse);
  const ir::Graph whole = with_outputs(forward_of(model));
  const Contents contents = random_contents(model, whole, seed);
  const auto all = run_on(whole, contents, Precision::f32);
  const auto some = run_on(sparse, contents, Precision::f32);
  std::map<std::string, int> gradients;
  for (const auto& [name, id] : whole.outputs) gradients[name] = id;
  for (const auto& [name, id] : sparse.outputs) {
    const auto part = trained.find(name);
    if (part == trained.end()) return name + " is frozen and has a gradient";
    const auto wanted =
        ir::to_doubles(all[static_cast<size_t>(gradients.at(name))], Precision::f32);
    const auto got = ir::to_doubles(some[static_cast<size_t>(id)], Precision::f32);
    const Shape& shape = whole.type(gradients.at(name)).shape;
    const std::set<int64_t> indices(part->second.indices.begin(), part->second.indices.end());
    size_t next = 0;
    const bool in_part = !indices.empty();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (in_part) {
        const train::Places along(shape, part->second.axis);
        if (indices.count(static_cast<int64_t>(along.at(i))) == 0) continue;
      }
      if (next >= got.size()) return "the gradient of " + name + " is too short";
      const double value = got[next++];
      if (value != wanted[i] && !(std::isnan(value) && std::isnan(wanted[i]))) {
        return fmt::format("the gradient of {} at {} is {}, of the whole training {}", name, i,
                           value, wanted[i]);
      }
    }
    if (next != got.size()) return "the gradient of " + name + " is too long";
  }
  for (const auto& [name, part] : trained) {
    const bool has_gradient = gradients.count(name) > 0;
    bool is_there = false;
    for (const auto& output : sparse.outputs) is_there = is_there || output.first == name;
    if (has_gradient != is_there) return name + " is trained and has no gradient";
  }
  return "";
}

TEST(random_model, trained_in_part_has_the_parts_of_its_gradients) {
  expect_of_random_models(parts_differ);
  EXPECT_GT(trained_in_part, 5);
}

}  // namespace
}  // namespace thimble::test::scheme_test
