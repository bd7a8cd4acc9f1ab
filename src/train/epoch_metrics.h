// Metrics of all samples of an epoch that are no means over samples, such as an F1 score.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::train {

// The op that makes a metric from the mean over all samples of the value summed up for it.
struct Finish {
  const ir::OpDef* op;
  ir::Attrs attrs;
  ir::TensorType mean;
};
using Finishes = std::map<std::string, Finish>;  // by the metric's name

// Replaces metrics that an op computes from a mean (ir::DataFlow::of_means) by that mean. Throws
// Error where such an op's output is read by anything else: it is right for one batch alone.
[[nodiscard]] Finishes take_finishes(ir::Graph& model);

[[nodiscard]] double finished(const Finish& finish, const std::vector<double>& mean);

}  // namespace thimble::train
