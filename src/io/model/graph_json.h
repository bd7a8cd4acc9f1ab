// Graphs of models as JSON: the entry "graph" in the metadata of a model file. The guide on model
// files describes every field.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace thimble::io {

inline constexpr int kGraphVersion = 1;

// The graph on one line, without the values of constants and parameters. Throws Error where it is
// no model (what a planner or autodiff made of one is none), or a name is not UTF-8.
[[nodiscard]] std::string graph_to_json(const ir::Graph& graph);

// The graph that a text describes: every shape rule has run again, and the graph is verified.
// Values and nodes have their old numbers. Constants have no data yet. file: for messages. Throws
// Error naming the file and the field for anything that is not as it should be.
[[nodiscard]] ir::Graph graph_from_json(const std::string& file, std::string_view text);

}  // namespace thimble::io
