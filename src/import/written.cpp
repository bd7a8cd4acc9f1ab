#include "import/written.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>

#include "io/atomic_file.h"
#include "passes/passes.h"

namespace thimble::importer {
namespace {

constexpr int64_t kMostWritten = (int64_t{1} << 31) - (int64_t{1} << 24);

}  // namespace

ir::Graph inference_graph(const Graph& graph, const std::string& path) {
  ir::Graph forward = graph.ir();
  if (forward.outputs.empty()) throw Error(path, "the graph has no output that could be written");
  forward.loss.reset();
  forward.metrics.clear();
  return passes::remove_dead_code(passes::specialize(forward, ir::Phase::inference));
}

void write_whole(const std::string& path, const std::string& bytes) {
  io::AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void WrittenGraph::fail(const std::string& message) const { throw Error(path_, message); }

bool WrittenGraph::is_constant(int value) const {
  const ir::ValueData& data = graph_.data(value);
  return data.producer < 0 && ir::is_persistent(data.role);
}

Array WrittenGraph::values_of(int value) const {
  const ir::ValueData& data = graph_.data(value);
  if (data.data->elements() != data.type.shape.elements() ||
      data.data->dtype() != data.type.dtype) {
    fail(fmt::format("the parameter \"{}\" has no values; load or train them first", *data.name));
  }
  return *data.data;
}

void WrittenGraph::count(const Array& weights) {
  bytes_ += static_cast<int64_t>(weights.bytes().size());
  if (bytes_ > kMostWritten) fail("the weights take more than 2 GiB, the most of such a file");
}

std::string WrittenOp::layer() const {
  return node_.layer < 0 ? "" : written_.graph().layers[static_cast<size_t>(node_.layer)].name;
}

const ir::TensorType& WrittenOp::type(int i) const {
  if (!has(i)) fail(fmt::format("its input {} is missing", i));
  return written_.graph().type(node_.input(i));
}

const ir::TensorType& WrittenOp::result(int i) const {
  return written_.graph().type(node_.outputs[static_cast<size_t>(i)]);
}

bool WrittenOp::is_read(int i) const {
  const int value = node_.outputs[static_cast<size_t>(i)];
  const ir::Graph& graph = written_.graph();
  return std::any_of(graph.outputs.begin(), graph.outputs.end(),
                     [&](const auto& output) { return output.second == value; }) ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
           return std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
         });
}

void WrittenOp::fail(const std::string& message) const {
  const std::string where = layer();
  written_.fail(
      fmt::format("the op {}{}: {}", node_.op->name, where.empty() ? "" : " of " + where, message));
}

}  // namespace thimble::importer
