// ONNX models, from memory, and as functions of the values of a graph.
#pragma once

#include <thimble/import.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/item.h"
#include "import/onnx/model.h"
#include "ir/graph.h"

namespace thimble::importer::onnx {

// How the elements of an initializer lie in the parameter, running statistic or mask that it
// became: those of the initializer under `shape`, with their axes in `order`.
struct WeightLayout {
  std::string initializer;
  std::string name;  // in the graph
  Shape shape;
  Order order;
};

// As thimble::import_onnx; path: the file that errors name. layouts: if given, gets one for each
// initializer that became a weight.
[[nodiscard]] Graph graph_of(const std::string& path, const Model& model,
                             const OnnxOptions& options,
                             std::vector<WeightLayout>* layouts = nullptr);

// The results of a model for inputs that are values of a graph, or known arrays: its nodes are
// added to the graph as they are for inference, initializers as constants. Axes are as ONNX has
// them, and every input has a fixed shape. Throws Error naming the file and the node at fault.
[[nodiscard]] std::vector<std::pair<std::string, Value>> apply(
    const std::string& path, const Model& model, ir::Graph& graph,
    const std::map<std::string, Value>& values, const std::map<std::string, Tensor>& constants);

}  // namespace thimble::importer::onnx
