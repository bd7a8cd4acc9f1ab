// Channels of a sparse update by their contribution to the loss.
#include <fmt/format.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "train/scheme.h"

namespace thimble {
namespace {

using Scores = std::map<std::string, std::vector<float>>;  // by parameter, of each element

// Trains all of the weights of which some channels are to be chosen.
TrainerOptions whole_weights(const TrainerOptions& options, int64_t samples) {
  UpdateScheme whole;
  for (const auto& [name, part] : options.scheme->weights) {
    if (part.channels.empty() && part.ratio < 1.0)
      whole.weights.emplace(name, UpdateScheme::Part{});
  }
  return {.optimizer = SGD{},
          .objectives = options.objectives,
          .scheme = whole,
          .batch = std::min(options.batch, samples),
          .precision = options.precision,
          .loss_scaling = options.loss_scaling,
          .seed = options.seed,
          .threads = options.threads};
}

// |gradient * weight| of each element, for the gradient of the mean loss of the samples.
Scores contributions(const Graph& graph, const TrainerOptions& options,
                     const data::Dataset& samples) {
  Trainer trainer(graph, options);
  std::map<std::string, std::vector<double>> sums;
  for (int64_t first = 0; first < samples.size(); first += options.batch) {
    std::vector<int64_t> numbers(
        static_cast<size_t>(std::min(options.batch, samples.size() - first)));
    std::iota(numbers.begin(), numbers.end(), first);
    const auto share = static_cast<double>(numbers.size());
    for (const auto& [name, gradient] : trainer.gradients(samples.subset(numbers)).values) {
      const std::vector<float> values = gradient.floats();
      std::vector<double>& sum = sums[name];
      sum.resize(values.size());
      for (size_t i = 0; i < values.size(); ++i) sum[i] += share * static_cast<double>(values[i]);
    }
  }
  Scores scores;
  for (const auto& [name, sum] : sums) {
    const std::vector<float> weights = trainer.parameter(name).floats();
    std::vector<float>& score = scores[name];
    for (size_t i = 0; i < sum.size(); ++i) {
      score.push_back(static_cast<float>(std::abs(sum[i] * static_cast<double>(weights[i]))));
    }
  }
  return scores;
}

}  // namespace

UpdateScheme choose_channels(const Graph& graph, const TrainerOptions& options,
                             const data::Dataset& samples) {
  if (!options.scheme) throw Error("scheme", "the options have none");
  const UpdateScheme& scheme = *options.scheme;
  const UpdateScheme by_size =
      train::with_channels(graph.ir(), scheme, train::magnitudes(options.seed));
  if (!train::has_ratios(scheme) || scheme.choice == UpdateScheme::Choice::magnitude) {
    return by_size;
  }
  const Scores scores = contributions(graph, whole_weights(options, samples.size()), samples);
  return train::with_channels(graph.ir(), scheme, [&](const ir::ValueData& weight, int axis) {
    const train::Places along(weight.type.shape, axis);
    std::vector<double> sums(static_cast<size_t>(weight.type.shape[axis]));
    const auto known = scores.find(weight.name);
    if (known == scores.end()) return sums;  // the loss does not depend on it
    for (size_t i = 0; i < known->second.size(); ++i) {
      sums[along.at(i)] += static_cast<double>(known->second[i]);
    }
    return sums;
  });
}

}  // namespace thimble
