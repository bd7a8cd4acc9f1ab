// Scores of classifiers that the command line computes beside a model's own metrics.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>
#include <thimble/trainer.h>

#include <map>
#include <string>
#include <vector>

namespace thimble::cli {

// The names that --scores takes.
[[nodiscard]] const std::vector<std::string>& class_score_names();

// Adds what the named scores are computed from to a model that reports its accuracy: metrics
// (macro averages over the classes) and, for roc_auc, the output of the classes' scores. Throws
// Error where the model reports no accuracy of class indices.
void add_class_scores(Graph& model, const std::vector<std::string>& names);

// Scores of all predictions together, into the metrics of an evaluation: roc_auc.
void finish_class_scores(const std::vector<std::string>& names, Trainer& trainer,
                         const data::Dataset& samples, std::map<std::string, double>& metrics);

}  // namespace thimble::cli
