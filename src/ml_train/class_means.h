// Layers that learn the means of classes without gradients: centroid_knn.
#pragma once

#include <thimble/evaluator.h>

#include <optional>
#include <string>
#include <vector>

#include "ml_train/dataset_node.h"
#include "ml_train/network.h"

namespace thimble::ml_train {

class ModelNode;

// Whether a model has such a layer.
[[nodiscard]] bool learns_means(const ModelNode& model);

// Puts samples into the means of their classes.
class MeansLearner {
 public:
  // Throws std::invalid_argument where other weights are trained.
  explicit MeansLearner(ModelNode& model);
  // Adds the samples of a batch. Returns the loss, which is that of other layers.
  Evaluation learn(const data::Dataset& samples, const SampleBatch& batch);

 private:
  void add(const LayerNode& layer, const std::vector<float>& features,
           const std::vector<float>& labels, int64_t count);

  ModelNode& model_;
  std::optional<Evaluator> evaluator_;
};

}  // namespace thimble::ml_train
