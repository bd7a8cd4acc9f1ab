#include "search/settings.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "ir/graph.h"
#include "train/setting_texts.h"

namespace thimble::search {

std::string metric_of(const Graph& graph, const AnalyzeOptions& options) {
  constexpr const char* kAccuracy = "accuracy";
  const auto& metrics = graph.ir().metrics;
  const auto has = [&](const std::string& name) {
    return std::any_of(metrics.begin(), metrics.end(),
                       [&](const auto& metric) { return metric.first == name; });
  };
  if (options.metric.empty()) return has(kAccuracy) ? kAccuracy : kLoss;
  if (options.metric == kLoss || has(options.metric)) return options.metric;
  std::string names = kLoss;
  for (const auto& metric : metrics) names += ", " + metric.first;
  throw Error("analyze",
              fmt::format("the graph has no metric \"{}\"; take one of {}", options.metric, names));
}

std::map<std::string, std::string> settings_of(const Graph& graph, const AnalyzeOptions& options) {
  const TrainerOptions& training = options.training;
  std::map<std::string, std::string> settings = train::setting_texts(
      training, training.schedule ? *training.schedule
                                  : Schedule::constant(training.optimizer.learning_rate()));
  settings["epochs"] = std::to_string(options.epochs);
  settings["metric"] = metric_of(graph, options);
  return settings;
}

void require_settings(const std::map<std::string, std::string>& known, const Graph& graph,
                      const AnalyzeOptions& options) {
  if (known.empty()) return;
  std::string differ;
  for (const auto& [key, here] : settings_of(graph, options)) {
    const auto there = known.find(key);
    if (there == known.end() || there->second == here) continue;
    differ += fmt::format("{}{} \"{}\" (now \"{}\")", differ.empty() ? "" : ", ",
                          train::name_of_setting(key), train::readable_setting(key, there->second),
                          train::readable_setting(key, here));
  }
  if (differ.empty()) return;
  throw Error("search", fmt::format("the parts were analyzed with {}; train schemes with the same "
                                    "settings, or analyze with these",
                                    differ));
}

}  // namespace thimble::search
