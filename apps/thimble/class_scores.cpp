#include "class_scores.h"

#include <thimble/metrics.h>
#include <thimble/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ir/graph.h"

namespace thimble::cli {
namespace {

constexpr const char* kOutput = "class scores";
constexpr int64_t kBest = 5;

struct Classifier {
  Value scores;
  Value labels;
};

Classifier classifier_of(Graph& model) {
  ir::Graph& graph = model.ir();
  for (const auto& [name, value] : graph.metrics) {
    const int producer = graph.data(value).producer;
    if (producer < 0) continue;
    const ir::Node& node = graph.nodes[static_cast<size_t>(producer)];
    if (std::string_view(node.op->name) != "accuracy") continue;
    const Classifier found{graph.value(node.input(0)), graph.value(node.input(1))};
    if (found.labels.dtype() == DType::i32) return found;
  }
  throw Error("scores",
              "the model reports no accuracy of class indices, so that it has none of "
              "these scores");
}

bool wants(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The samples' labels, one after another.
std::vector<int32_t> labels_of(const data::Dataset& samples, const std::string& label) {
  const std::vector<data::Field>& fields = samples.fields();
  std::vector<std::vector<std::byte>> held;
  std::vector<void*> out;
  size_t wanted = fields.size();
  for (size_t f = 0; f < fields.size(); ++f) {
    held.emplace_back(static_cast<size_t>(size_bytes(fields[f].dtype, fields[f].shape)));
    out.push_back(held.back().data());
    if (fields[f].name == label) wanted = f;
  }
  if (wanted == fields.size()) {
    throw Error("scores", fmt::format("the data has no field \"{}\"", label));
  }
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < samples.size(); ++i) {
    samples.read(i, out);
    const auto* const first = reinterpret_cast<const int32_t*>(held[wanted].data());
    labels.insert(labels.end(), first, first + held[wanted].size() / sizeof(int32_t));
  }
  return labels;
}

}  // namespace

const std::vector<std::string>& class_score_names() {
  static const std::vector<std::string> names = {"precision", "recall", "f1", "top5", "roc_auc"};
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
  if (wants(names, "roc_auc")) model.output(kOutput, of.scores);
}

void finish_class_scores(const std::vector<std::string>& names, Trainer& trainer,
                         const data::Dataset& samples, std::map<std::string, double>& metrics) {
  if (!wants(names, "roc_auc")) return;
  const Array scores = trainer.predict(samples, kOutput);
  std::string label;
  for (const data::Field& field : samples.fields()) {
    if (field.is_label && field.dtype == DType::i32) label = field.name;
  }
  std::vector<int64_t> dims = scores.shape().dims();
  dims.pop_back();
  const Array labels(labels_of(samples, label), Shape(std::move(dims)));
  metrics["roc_auc"] = thimble::metrics::roc_auc(labels, scores);
}

}  // namespace thimble::cli
