#include "class_scores.h"

#include <thimble/metrics.h>
#include <thimble/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ir/graph.h"

namespace thimble::cli {
namespace {

// Outputs from which roc_auc and confusion are computed.
constexpr const char* kScores = "class scores";
constexpr const char* kLabels = "class labels";
constexpr int64_t kBest = 5;

struct Classifier {
  Value scores;
  Value labels;
};

bool has_classes_of(Value scores, Value labels) {
  std::vector<int64_t> dims = scores.shape().dims();
  if (dims.empty() || !is_floating(scores.dtype()) || labels.dtype() != DType::i32) return false;
  dims.pop_back();
  return Shape(std::move(dims)) == labels.shape();
}

// Scores [..., classes] and class indices [...] of the first metric that compares such.
Classifier classifier_of(Graph& model) {
  ir::Graph& graph = model.ir();
  for (const auto& [name, value] : graph.metrics) {
    const int producer = graph.data(value).producer;
    if (producer < 0) continue;
    const ir::Node& node = graph.nodes[static_cast<size_t>(producer)];
    if (node.inputs.size() != 2) continue;
    const Classifier found{graph.value(node.input(0)), graph.value(node.input(1))};
    if (has_classes_of(found.scores, found.labels)) return found;
  }
  throw Error("scores",
              "the model has no metric of scores [..., classes] and class indices [...], such as "
              "accuracy, so that it has none of these scores");
}

bool wants(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool wants_outputs(const std::vector<std::string>& names) {
  return wants(names, "roc_auc") || wants(names, "confusion");
}

}  // namespace

const std::vector<std::string>& class_score_names() {
  static const std::vector<std::string> names = {"precision", "recall",  "f1",
                                                 "top5",      "roc_auc", "confusion"};
  return names;
}

void add_class_scores(Graph& model, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const Classifier of = classifier_of(model);
  if (wants(names, "precision")) model.metric("precision", precision_score(of.scores, of.labels));
  if (wants(names, "recall")) model.metric("recall", recall_score(of.scores, of.labels));
  if (wants(names, "f1")) model.metric("f1", f1_score(of.scores, of.labels));
  if (wants(names, "top5")) {
    const int64_t k = std::min(kBest, of.scores.shape()[-1]);
    model.metric("top5", top_k_accuracy(of.scores, of.labels, k));
  }
  if (wants_outputs(names)) {
    model.output(kScores, of.scores);
    model.output(kLabels, of.labels);
  }
}

std::vector<std::string> class_score_outputs(const std::vector<std::string>& names) {
  if (!wants_outputs(names)) return {};
  return {kScores, kLabels};
}

void finish_class_scores(const std::vector<std::string>& names,
                         const std::map<std::string, Array>& outputs,
                         std::map<std::string, double>& metrics) {
  if (!wants(names, "roc_auc")) return;
  metrics["roc_auc"] = thimble::metrics::roc_auc(outputs.at(kLabels), outputs.at(kScores));
}

std::vector<std::vector<int64_t>> confusion_counts(const std::vector<std::string>& names,
                                                   const std::map<std::string, Array>& outputs) {
  if (!wants(names, "confusion")) return {};
  const Array& scores = outputs.at(kScores);
  const Array& labels = outputs.at(kLabels);
  const int64_t classes = scores.shape()[-1];
  thimble::metrics::ConfusionMatrix matrix(classes);
  matrix.add_scores(labels.reshaped({labels.elements()}),
                    scores.reshaped({labels.elements(), classes}));
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(classes));
  for (int64_t label = 0; label < classes; ++label) {
    for (int64_t predicted = 0; predicted < classes; ++predicted) {
      rows[static_cast<size_t>(label)].push_back(matrix.count(label, predicted));
    }
  }
  return rows;
}

}  // namespace thimble::cli
