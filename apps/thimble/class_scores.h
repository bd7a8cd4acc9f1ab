// Scores of classifiers that the command line computes beside a model's own metrics.
#pragma once

#include <thimble/array.h>
#include <thimble/graph.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace thimble::cli {

// The names that --scores takes.
[[nodiscard]] const std::vector<std::string>& class_score_names();

// Adds what the named scores are computed from to a classifier: metrics (macro averages over the
// classes) and, for roc_auc and confusion, outputs. Throws Error where no metric of the
// model, such as its accuracy, compares scores of classes with class indices.
void add_class_scores(Graph& model, const std::vector<std::string>& names);

// The outputs that they need of all samples.
[[nodiscard]] std::vector<std::string> class_score_outputs(const std::vector<std::string>& names);

// Scores of all samples together, into the metrics of an evaluation: roc_auc.
void finish_class_scores(const std::vector<std::string>& names,
                         const std::map<std::string, Array>& outputs,
                         std::map<std::string, double>& metrics);

// Samples by their label (row) and the class of the highest score (column); none where
// confusion is not among the names.
[[nodiscard]] std::vector<std::vector<int64_t>> confusion_counts(
    const std::vector<std::string>& names, const std::map<std::string, Array>& outputs);

}  // namespace thimble::cli
