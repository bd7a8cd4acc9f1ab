// Graphs written as text and compared.
#include <nlohmann/json.hpp>

#include "io/json/attrs.h"
#include "ir/rewrite.h"
#include "properties/random_models.h"

namespace thimble::test::text_test {
namespace {

// The graph rebuilt from its sources, the names of its ops and their attributes as JSON text.
ir::Graph rebuilt(const ir::Graph& graph) {
  ir::Graph made;
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    if (data.producer < 0) {
      (void)made.copy_source(data);
      continue;
    }
    const ir::Node& node = graph.nodes[static_cast<size_t>(data.producer)];
    if (node.outputs[0] != static_cast<int>(id)) continue;
    const ir::OpDef* op = ir::find_op(node.op->name);
    if (op == nullptr) throw Error(node.op->name, "is not found by its name");
    const std::string json = io::attrs_to_json(node.attrs).dump();
    std::vector<Value> inputs;
    for (const int input : node.inputs) inputs.push_back(made.value(input));
    (void)made.add(*op,
                   io::attrs_from_json(op->signature.attrs, nlohmann::json::parse(json), op->name),
                   inputs);
  }
  made.loss = graph.loss;
  made.outputs = graph.outputs;
  made.metrics = graph.metrics;
  return made;
}

std::string compare(const std::string& what, const ir::Graph& got, const ir::Graph& wanted) {
  ir::verify(got);
  if (ir::text(got) == ir::text(wanted)) return "";
  return fmt::format("{}:\n{}instead of\n{}", what, ir::text(got), ir::text(wanted));
}

ir::Graph copied(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const ir::Node& node : graph.nodes) rewriter.copy(node);
  return std::move(rewriter).finish();
}

std::string can_be_taken_apart_and_put_together(const RandomModel& model, uint32_t) {
  const ir::Graph& described = model.graph.ir();
  const ir::Graph step = with_gradients(model);
  const ir::Graph optimized = passes::optimize(step);
  for (const ir::Graph* graph : {&described, &step, &optimized}) {
    std::string error = compare("rebuilt", rebuilt(*graph), *graph);
    if (!error.empty()) return error;
    // A copy may renumber its values; a copy of the copy must not.
    const ir::Graph copy = copied(*graph);
    error = compare("copied", copied(copy), copy);
    if (!error.empty()) return error;
    if (copy.nodes.size() != graph->nodes.size()) return "a copy lost nodes";
  }
  // An optimized graph has nothing left to optimize.
  return compare("optimized twice", passes::optimize(optimized), optimized);
}

TEST(random_model, can_be_rebuilt_from_its_text) {
  expect_of_random_models(can_be_taken_apart_and_put_together);
}

}  // namespace
}  // namespace thimble::test::text_test
