#include <gmock/gmock.h>
#include <thimble/graph.h>
#include <thimble/ops.h>

#include <functional>

#include "ir/graph.h"

namespace thimble::verify_test {
namespace {

// input, parameter, matmul, relu, mean: nodes 0 to 2.
Graph sound_graph() {
  Graph g;
  const Value x = g.input("x", {4});
  const Value w = g.parameter("w", {4, 3}, init::zeros());
  g.minimize(mean(relu(matmul(x, w))));
  return g;
}

struct Break {
  const char* rule;
  std::function<void(ir::Graph&)> apply;
};

TEST(verify, accepts_a_sound_graph) { EXPECT_NO_THROW(ir::verify(sound_graph().ir())); }

// One broken graph for every rule of the table.
TEST(verify, names_the_rule_that_is_broken) {
  const Break breaks[] = {
      {"inputs exist", [](ir::Graph& g) { g.nodes[1].inputs[0] = 99; }},
      {"inputs come first", [](ir::Graph& g) { std::swap(g.nodes[0].inputs, g.nodes[1].inputs); }},
      {"outputs are its own", [](ir::Graph& g) { g.nodes[1].outputs = g.nodes[0].outputs; }},
      {"attributes fit", [](ir::Graph& g) { g.nodes[0].attrs = {}; }},
      {"inputs are declared", [](ir::Graph& g) { g.nodes[0].inputs[1] = -1; }},
      {"inputs are declared", [](ir::Graph& g) { g.nodes[1].inputs.assign(9, 0); }},
      {"types follow the shape rule",
       [](ir::Graph& g) { g.values[static_cast<size_t>(g.nodes[1].outputs[0])].type.shape = {3}; }},
      {"has a kernel",
       [](ir::Graph& g) {
         static const ir::OpDef no_kernel = [&] {
           ir::OpDef op = *g.nodes[1].op;
           op.kernels.ref = nullptr;
           return op;
         }();
         g.nodes[1].op = &no_kernel;
       }},
      {"updates come last",
       [](ir::Graph& g) {
         static const ir::OpDef changes_input = [&] {
           ir::OpDef op = *g.nodes[0].op;
           op.memory.updates = {{0, 0}};
           return op;
         }();
         g.nodes[0].op = &changes_input;
       }},
      {"is no value of the graph", [](ir::Graph& g) { g.outputs.emplace_back("y", 99); }},
      {"the loss must be one f32 number", [](ir::Graph& g) { g.loss = 0; }},
  };
  for (const Break& broken : breaks) {
    ir::Graph graph = sound_graph().ir();
    broken.apply(graph);
    try {
      ir::verify(graph);
      ADD_FAILURE() << "accepted: " << broken.rule;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(broken.rule));
    }
  }
}

}  // namespace
}  // namespace thimble::verify_test
