// The graph in a model file: what is read, and what is refused.
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>
#include <thimble/recipes.h>

#include <nlohmann/json.hpp>
#include <random>

#include "harness/error_of.h"
#include "io/model/graph_json.h"

namespace thimble::io::graph_json_test {
namespace {

using nlohmann::json;
using test::error_of;

Graph model() {
  Graph g;
  const Value x = g.input("x", {4});
  const Value y = g.label("y", {}, DType::i32);
  const Value h = dropout(relu(dense(x, {.units = 3, .name = "d"})), {.p = 0.5});
  const Value logits = reshape(h, {kBatch, 3});
  g.minimize(softmax_cross_entropy(logits, y));
  g.metric("accuracy", accuracy(logits, y));
  g.output("logits", logits);
  g.freeze("d.bias");
  return g;
}

json parsed() { return json::parse(graph_to_json(model().ir())); }

std::string error_with(const json& graph) {
  return error_of([&] { static_cast<void>(graph_from_json("file", graph.dump())); });
}

// Every recipe's graph is the same again, and adds the same layers as it would have.
TEST(graph_json, brings_back_every_recipe) {
  for (const Recipe& recipe : recipes()) {
    Graph graph = recipe.build();
    ir::Graph read = graph_from_json(recipe.name, graph_to_json(graph.ir()));
    EXPECT_EQ(ir::text(read), graph.text()) << recipe.name;
    EXPECT_EQ(read.begin_layer("dense", ""), graph.ir().begin_layer("dense", ""));
  }
}

// Files that were written before names of thimble's own had a prefix.
TEST(graph_json, reads_the_random_state_without_its_prefix) {
  std::string text = graph_to_json(model().ir());
  const size_t at = text.find("\"@rng\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(ir::text(graph_from_json("f", text.erase(at + 1, 1))), model().text());
}

TEST(graph_json, refuses_names_of_its_own_for_values_of_the_model) {
  const json::json_pointer name("/values/0/name");
  json graph = parsed();
  graph[name] = "@x";
  EXPECT_NE(error_with(graph).find("names that begin with @ are thimble's own"), std::string::npos)
      << error_with(graph);
}

TEST(graph_json, writes_the_open_batch_as_n) {
  Graph g;
  g.output("y", reshape(g.input("x", {4, 6}), {2 * kBatch, 12}));
  const json graph = json::parse(graph_to_json(g.ir()));
  EXPECT_EQ(graph["values"][0]["shape"], json::parse(R"(["N", 4, 6])"));
  EXPECT_EQ(graph["values"][1]["shape"], json::parse(R"(["2N", 12])"));
  EXPECT_EQ(graph["nodes"][0]["attributes"]["shape"], json::parse(R"(["2N", 12])"));
  EXPECT_EQ(graph.dump().find(std::to_string(kBatch)), std::string::npos);
  EXPECT_EQ(ir::text(graph_from_json("f", graph.dump())), g.text());
}

TEST(graph_json, keeps_what_is_frozen_and_how_parameters_begin) {
  const Graph g = model();
  const ir::Graph& wrote = g.ir();
  const ir::Graph read = graph_from_json("f", graph_to_json(wrote));
  for (size_t id = 0; id < read.values.size(); ++id) {
    EXPECT_EQ(read.values[id].trainable, wrote.values[id].trainable);
    EXPECT_EQ(*read.values[id].init, *wrote.values[id].init);
    EXPECT_EQ(read.values[id].name, wrote.values[id].name);
  }
}

TEST(graph_json, refuses_to_write_what_is_no_model) {
  Graph g = model();
  g.ir().outputs.emplace_back("\xff", 0);
  EXPECT_NE(error_of([&] { static_cast<void>(graph_to_json(g.ir())); }).find("not UTF-8"),
            std::string::npos);
  Graph planned = model();
  planned.ir().values.back().recomputed = true;
  EXPECT_NE(error_of([&] { static_cast<void>(graph_to_json(planned.ir())); }).find("training step"),
            std::string::npos);
}

// Each is one change of a good file and the words that the message must have.
TEST(graph_json, names_the_field_that_is_wrong) {
  const auto set = [](const char* path, json value) {
    return [path, value](json& graph) { graph[json::json_pointer(path)] = value; };
  };
  const auto erase = [](const char* object, const char* field) {
    return [=](json& graph) { graph[json::json_pointer(object)].erase(field); };
  };
  const struct {
    std::function<void(json&)> change;
    const char* said;
  } cases[] = {
      {set("/version", 2), "version is 2, this thimble reads version 1"},
      {set("/version", "1"), "version is \"1\""},
      {erase("", "version"), "graph: the field version is missing"},
      {erase("", "metrics"), "graph: the field metrics is missing"},
      {set("/extra", 1), "the field \"extra\" is not known"},
      {set("/layers/0/name", "a\x1b[2J"), "name is no name: it has a control character at byte 1"},
      {set("/values/0/name", "__metadata__"), "name is no name: it is reserved"},
      {set("/values", 1), "graph: values must be a list, got 1"},
      {set("/values/0", 1), "graph: values[0]: expected an object, got 1"},
      {set("/values/0/name", ""), "values[0]: name is no name: it is empty"},
      {set("/values/1/name", "x"), "the name is taken"},
      {set("/values/0/role", "activation"), "role is \"activation\", but no node computes it"},
      {set("/values/0/role", "scalar"), "a model has no scalar but \"@rng\""},
      {set("/values/0/role", 7), "role must be a text, got 7"},
      {set("/values/0/dtype", "f33"), "dtype must be an element type"},
      {set("/values/0/shape", json::array({4})), "shape must be that of a batch"},
      {set("/values/0/shape", json::array({"N", "N"})), "cannot be 1000003"},
      {set("/values/0/shape", json::array({"N", -4})), "negative"},
      {set("/values/0/shape", json::array({"N", 1e9})), "must be a whole number"},
      {set("/values/0/shape", json::array({"N", int64_t{1} << 40})),
       "whole number from -2147483647"},
      {set("/values/0/shape", json::array({"N", "M"})), "must be a whole number, got \"M\""},
      {set("/values/0/shape", json::array({"N", "99999999999N"})), "must be a whole number"},
      {set("/values/0/shape", json::array({"N", 65536, 65536})), "elements"},
      {set("/values/0/shape", json(std::vector<int>(17, 1))), "shape has 17 items"},
      {set("/values/0/frozen", 1), "frozen must be true or false"},
      {set("/values/2/initializer/kind", "zeros"), "initializer: kind must be one of"},
      {set("/values/2/initializer/c", 1), "no attribute \"c\""},
      {set("/values/2/shape", json::array({3, 5})), "graph: nodes[0] ("},
      {set("/values/4/shape", json::array({"N", 5})), "values[4]: its type is f32[N, 5], the rule"},
      {set("/values/4/role", "gradient"), "role must be \"activation\""},
      {set("/values/4/frozen", true), "neither frozen nor initialized"},
      {set("/nodes/0/op", "dance"), "nodes[0]: there is no op \"dance\""},
      {set("/nodes/0/op", "adam_update"), "is an optimizer's"},
      {set("/nodes/0/op", json::array()), "op must be a text"},
      {set("/nodes/0/inputs", json::array({0, 2})), ""},
      {set("/nodes/0/inputs", json::array({4})), "nodes[0]: reads the value 4 before"},
      {set("/nodes/0/inputs", json::array({999})), "inputs must be the number of one of"},
      {set("/nodes/0/inputs", json::array({-1})), "inputs must be the number of one of"},
      {set("/nodes/0/inputs", json::array({0, 2, 3, 1, 1, 1})), "takes at most"},
      {set("/nodes/0/inputs", json::array({nullptr})), "is missing"},
      {[](json& graph) {
         json& node = graph["nodes"][0];
         node["op"] = "concat";  // takes any number of inputs, all of which are there
         node["inputs"] = json::array({0, nullptr, 0});
         node.erase("attributes");
       },
       "is missing"},
      {set("/nodes/0/outputs", json::array()), "outputs must be at least one value"},
      {set("/nodes/0/outputs", json::array({0})), "reads the value 0 before it is computed"},
      {set("/nodes/0/outputs", json::array({4, 6})), "outputs must be new values"},
      {set("/nodes/0/outputs", json::array({4, 5})), "has 2 outputs, its rule says 1"},
      {set("/nodes/0/layer", 99), "layer must be the number of one of"},
      {set("/nodes/0/attributes/units", 3), "no attribute \"units\""},
      {set("/nodes/0/attributes", json::array()), "attributes must be an object"},
      {set("/layers/0/name", ""), "layers[0]: name is no name: it is empty"},
      {set("/loss", 4), "the loss must be one f32 number"},
      {set("/loss", 99), "loss must be the number of one of"},
      {set("/loss", "4"), "loss must be the number of one of"},
      {set("/outputs/0/value", -1), "value must be the number of one of"},
      {set("/metrics/0/value", 4), "the metric \"accuracy\" is f32[N, 3], not one f32 number"},
  };
  const json good = parsed();
  ASSERT_EQ(error_with(good), test::kNoError);
  for (const auto& [change, said] : cases) {
    json graph = good;
    change(graph);
    const std::string error = error_with(graph);
    if (*said == '\0') continue;
    EXPECT_EQ(error.substr(0, 7), "[file] ") << error;
    EXPECT_NE(error.find(said), std::string::npos) << said << " <- " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(graph_json, refuses_a_name_that_stands_twice) {
  json graph = parsed();
  graph["outputs"].push_back(graph["outputs"][0]);
  EXPECT_NE(error_with(graph).find("outputs[1]: the name \"logits\" stands twice"),
            std::string::npos);
  const std::string twice = R"({"version": 1, "version": 1})";
  EXPECT_NE(error_of([&] { static_cast<void>(graph_from_json("f", twice)); }).find("stands twice"),
            std::string::npos);
}

TEST(graph_json, refuses_what_is_nested_too_deeply_or_breaks_off) {
  const std::string deep = "{\"version\":" + std::string(100000, '[');
  EXPECT_NE(error_of([&] { static_cast<void>(graph_from_json("f", deep)); }).find("too deeply"),
            std::string::npos);
  const std::string good = graph_to_json(model().ir());
  for (size_t length = 0; length < good.size(); length += 7) {
    EXPECT_NE(error_of([&] { static_cast<void>(graph_from_json("f", good.substr(0, length))); }),
              test::kNoError);
  }
}

// Every value of the JSON in the place of another: a verified graph or an Error, nothing else.
TEST(graph_json, survives_any_mixture_of_its_parts) {
  const json good = parsed();
  std::vector<json> parts{json(), true,        -1,    0,   1,    7,  2147483647,
                          1e308,  -2147483648, "inf", "N", "3N", "", json::array()};
  std::vector<json::json_pointer> places;
  const json flat = good.flatten();
  for (const auto& [path, value] : flat.items()) {
    places.emplace_back(path);
    parts.push_back(value);
  }
  std::mt19937 random(3);
  int accepted = 0;
  constexpr int kRounds = 5000;
  for (int round = 0; round < kRounds; ++round) {
    json changed = good;
    for (int change = 0; change <= round % 3; ++change) {
      changed[places[random() % places.size()]] = parts[random() % parts.size()];
    }
    try {
      ir::verify(graph_from_json("f", changed.dump()));
      ++accepted;
    } catch (const Error&) {  // the usual end
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, kRounds / 2);
}

}  // namespace
}  // namespace thimble::io::graph_json_test
