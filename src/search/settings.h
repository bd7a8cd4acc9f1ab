// What the scores of an analysis depend on beside the data and the seed.
#pragma once

#include <thimble/graph.h>
#include <thimble/scheme_search.h>

#include <map>
#include <string>

namespace thimble::search {

inline constexpr const char* kLoss = "loss";

// Of the test samples. Throws Error where the graph does not have the one that was asked for.
[[nodiscard]] std::string metric_of(const Graph& graph, const AnalyzeOptions& options);

[[nodiscard]] std::map<std::string, std::string> settings_of(const Graph& graph,
                                                             const AnalyzeOptions& options);

// Throws Error that lists what differs from known settings; empty ones are not known.
void require_settings(const std::map<std::string, std::string>& known, const Graph& graph,
                      const AnalyzeOptions& options);

}  // namespace thimble::search
