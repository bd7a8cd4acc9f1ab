#include "ml_train/class_means.h"

#include <layer.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/nearest_centroid.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sqrt.h>
#include <thimble/ops/where.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

constexpr const char* kType = "centroid_knn";

constexpr Property kMeans[] = {{"num_class", Kind::positive, nullptr, "", 0, true}};

// Minus the distance of the features to the mean of every class; minus infinity for a class without
// samples.
void build_class_means(LayerBuild& b) {
  b.require_inputs(1, 1);
  const int64_t size = b.dim().elements();
  const int64_t classes = b.props.count("num_class");
  const auto learned = [&](const char* name, int64_t rows, const Shape& shape) {
    return b.weight({.name = name,
                     .dims = {1, 1, rows, shape[-1]},
                     .shape = shape,
                     .initializer = "=zeros",
                     .decay = nullptr,
                     .regularizer = nullptr,
                     .is_statistic = true});
  };
  const Value means = learned("map", classes, {classes, size});
  const Value counts = learned("num_samples", 1, {classes});
  const Value rows = reshape(b.plain(), {-1, size});
  const auto of_all = [&](const char* name, float value) {
    return b.graph().constant(b.name() + ":" + name, {classes},
                              std::vector<float>(static_cast<size_t>(classes), value));
  };
  const Value distances = sqrt(neg(nearest_centroid(rows, means, of_all("one", 1.0F))));
  const Value known = gt(counts, of_all("none", 0.0F));
  const Value never = of_all("never", -std::numeric_limits<float>::infinity());
  const Dim out{1, 1, classes};
  if (b.shared().training) {
    static_cast<void>(b.label(out));
    b.add_loss(affine(mean(rows), {.scale = 0.0}));
  }
  if (b.shared().features) b.graph().output(b.name() + ":features", rows);
  b.put_plain(reshape(where(known, neg(distances), never), {-1, 1, 1, classes}), out);
}

}  // namespace

void add_mean_layers(std::vector<LayerKind>& kinds) {
  kinds.push_back(
      {kType, ml::train::LAYER_CENTROID_KNN, {kMeans}, build_class_means, {}, /*is_loss=*/true});
}

bool learns_means(const ModelNode& model) {
  const auto& nodes = model.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.layer->getType() == kType; });
}

MeansLearner::MeansLearner(ModelNode& model) : model_(model) {
  for (const Node& node : model.nodes()) {
    for (const Weight* weight : node.layer->weights()) {
      if (!weight->trainable) continue;
      throw std::invalid_argument("[" + node.layer->props().owner() +
                                  "] is trained by gradients, and centroid_knn has none: set "
                                  "trainable=false");
    }
  }
  NetworkSettings settings = model.settings();
  settings.features = true;
  EvaluatorOptions options{.batch = model.props().count("batch_size"),
                           .threads = static_cast<int>(model.props().count("threads"))};
  for (const Node& node : model.nodes())
    if (node.layer->getType() == kType) options.outputs.push_back(node.name() + ":features");
  evaluator_.emplace(model.network_with_weights(settings).graph, options);
}

Evaluation MeansLearner::learn(const data::Dataset& samples, const SampleBatch& batch) {
  std::map<std::string, Array> outputs;
  const Evaluation evaluation = evaluator_->evaluate(samples, &outputs);
  for (const Node& node : model_.nodes()) {
    if (node.layer->getType() != kType) continue;
    const auto& ports = model_.network().labels;
    const auto port = std::find_if(ports.begin(), ports.end(),
                                   [&](const Port& p) { return p.layer == node.name(); });
    add(*node.layer, outputs.at(node.name() + ":features").floats(),
        batch.labels[static_cast<size_t>(port - ports.begin())], batch.count);
  }
  return evaluation;
}

void MeansLearner::add(const LayerNode& layer, const std::vector<float>& features,
                       const std::vector<float>& labels, int64_t count) {
  Weight& map = *layer.weights()[0];
  Weight& seen = *layer.weights()[1];
  std::vector<float> means = model_.weights().read(map);
  std::vector<float> samples = model_.weights().read(seen);
  const auto size = static_cast<std::ptrdiff_t>(means.size() / samples.size());
  const auto classes = static_cast<std::ptrdiff_t>(samples.size());
  for (std::ptrdiff_t n = 0; n < count; ++n) {
    const auto label = labels.begin() + n * classes;
    const auto c = std::max_element(label, label + classes) - label;
    const float now = samples[static_cast<size_t>(c)] += 1.0F;
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      float& mean = means[static_cast<size_t>(c * size + i)];
      mean += (features[static_cast<size_t>(n * size + i)] - mean) / now;
    }
  }
  model_.weights().write(map, means);
  model_.weights().write(seen, samples);
}

}  // namespace thimble::ml_train
