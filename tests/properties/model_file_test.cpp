// Random models as JSON of a model file, and back.
#include "io/model/graph_json.h"
#include "properties/random_models.h"

namespace thimble::test::model_file_test {
namespace {

std::string first_difference(const ir::Graph& got, const ir::Graph& wanted) {
  for (size_t id = 0; id < wanted.values.size(); ++id) {
    const ir::ValueData& a = got.values[id];
    const ir::ValueData& b = wanted.values[id];
    if (a.name != b.name || a.type != b.type || a.role != b.role || a.producer != b.producer ||
        a.trainable != b.trainable || *a.init != *b.init) {
      return fmt::format("value {} differs", id);
    }
  }
  for (size_t n = 0; n < wanted.nodes.size(); ++n) {
    if (got.nodes[n].layer != wanted.nodes[n].layer)
      return fmt::format("the layer of {} differs", n);
  }
  for (size_t i = 0; i < wanted.layers.size(); ++i) {
    if (got.layers[i].name != wanted.layers[i].name ||
        got.layers[i].type != wanted.layers[i].type) {
      return fmt::format("layer {} differs", i);
    }
  }
  return "";
}

std::string comes_back_from_its_json(const RandomModel& model, uint32_t) {
  const ir::Graph& graph = model.graph.ir();
  const std::string json = io::graph_to_json(graph);
  const ir::Graph read = io::graph_from_json("file", json);
  if (ir::text(read) != ir::text(graph)) return "read " + ir::text(read);
  if (read.values.size() != graph.values.size() || read.layers.size() != graph.layers.size()) {
    return "values or layers are lost";
  }
  const std::string difference = first_difference(read, graph);
  if (!difference.empty()) return difference;
  return io::graph_to_json(read) == json ? "" : "its JSON differs the second time";
}

TEST(random_model, comes_back_from_its_json) { expect_of_random_models(comes_back_from_its_json); }

}  // namespace
}  // namespace thimble::test::model_file_test
