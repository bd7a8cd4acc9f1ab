// The output of `thimble ops`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "cli/process.h"
#include "ir/function_def.h"

namespace thimble::test::ops_test {
namespace {

using ::testing::HasSubstr;

std::map<std::string, nlohmann::ordered_json> listed() {
  std::map<std::string, nlohmann::ordered_json> ops;
  const nlohmann::ordered_json json = last_line_json(run({"ops", "--json"}).out);
  for (const auto& op : json["ops"]) {
    EXPECT_TRUE(ops.emplace(op["name"], op).second) << op["name"] << " stands twice";
  }
  return ops;
}

// The names of Python's functions: of what users call, an op or a function.
std::set<std::string> functions_of_python() {
  std::set<std::string> names;
  for (const ir::OpDef* op : ir::all_ops()) {
    if (ir::is_for_users(*op)) names.insert(op->name);
  }
  for (const ir::FunctionDef* f : ir::all_functions()) names.insert(f->name);
  return names;
}

std::vector<std::string> names_of(const nlohmann::ordered_json& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.push_back(one["name"]);
  return names;
}

TEST(cli_ops, lists_what_users_call_and_marks_the_rest) {
  const auto ops = listed();
  const std::set<std::string> users = functions_of_python();
  ASSERT_GT(users.size(), 150U);
  for (const std::string& name : users) {
    ASSERT_TRUE(ops.contains(name)) << name;
    const std::string kind = ops.at(name)["kind"];
    EXPECT_EQ(kind, ir::find_op(name) != nullptr ? "op" : "function") << name;
  }
  for (const auto& [name, op] : ops) {
    if (users.contains(name)) continue;
    const std::string kind = op["kind"];
    EXPECT_TRUE(kind == "gradient" || kind == "update" || kind == "internal") << name << kind;
  }
  EXPECT_EQ(ops.at("relu_grad")["kind"], "gradient");
  EXPECT_EQ(ops.at("conv2d_weight_grad")["kind"], "gradient");
  EXPECT_EQ(ops.at("adamw_update")["kind"], "update");
  EXPECT_EQ(ops.at("lstm_scan")["kind"], "internal");
}

TEST(cli_ops, describes_a_layer_with_its_options_and_parameters) {
  const auto lstm = listed().at("lstm");
  EXPECT_EQ(lstm["kind"], "function");
  EXPECT_THAT(lstm["doc"], HasSubstr("Long short-term memory"));
  EXPECT_THAT(names_of(lstm["inputs"]), ::testing::ElementsAre("x", "h0", "c0", "lengths"));
  EXPECT_THAT(names_of(lstm["outputs"]), ::testing::ElementsAre("y", "h", "c"));
  EXPECT_THAT(names_of(lstm["parameters"]), ::testing::Contains("weight_hh_l0"));
  const auto& options = lstm["attributes"];
  EXPECT_THAT(names_of(options), ::testing::ElementsAre("units", "layers", "bidirectional",
                                                        "dropout", "bias", "projection", "name"));
  EXPECT_EQ(options[1]["type"], "integer");
  EXPECT_EQ(options[1]["default"], "1");
  EXPECT_EQ(options[4]["default"], "true");
}

TEST(cli_ops, has_the_layer_beside_the_op_of_its_name) {
  const auto ops = listed();
  const auto& conv2d = ops.at("conv2d");
  EXPECT_THAT(names_of(conv2d["inputs"]), ::testing::ElementsAre("x", "weight", "bias"));
  EXPECT_EQ(conv2d["differentiable"], true);
  const auto& layer = conv2d["function"];
  EXPECT_THAT(names_of(layer["inputs"]), ::testing::ElementsAre("x"));
  EXPECT_THAT(names_of(layer["parameters"]), ::testing::ElementsAre("weight", "bias"));
  std::map<std::string, std::string> defaults;
  for (const auto& option : layer["attributes"]) defaults[option["name"]] = option["default"];
  EXPECT_EQ(defaults.at("weight_init"), "torch_default");
  EXPECT_EQ(defaults.at("bias_init"), "none");
  EXPECT_FALSE(ops.at("relu").contains("function"));
}

TEST(cli_ops, says_which_types_inputs_take) {
  const auto ops = listed();
  const auto types = [&ops](const char* op, size_t i) {
    return ops.at(op)["inputs"][i]["types"].get<std::vector<std::string>>();
  };
  EXPECT_THAT(types("relu", 0), ::testing::ElementsAre("f32", "f16", "bf16"));
  EXPECT_THAT(types("gather", 1), ::testing::ElementsAre("i32"));
  EXPECT_THAT(types("matmul", 0), ::testing::ElementsAre("f32", "f16", "bf16", "i64", "i32"));
  EXPECT_EQ(types("reshape", 0).size(), std::size(kDTypes));
  const std::string page = run({"ops", "--markdown"}).out;
  EXPECT_THAT(page, HasSubstr("- input `index` (i32): "));
  EXPECT_THAT(page, HasSubstr("- input `mask` (optional; floating or u8): "));
}

TEST(cli_ops, gives_every_name_a_line_and_a_heading) {
  const std::string text = "\n" + run({"ops"}).out;
  const std::string page = run({"ops", "--markdown"}).out;
  for (const auto& [name, op] : listed()) {
    const std::string kind = op["kind"];
    EXPECT_THAT(text, ::testing::ContainsRegex("\n" + name + " +" + kind + " +[^ ]"));
    EXPECT_THAT(page, HasSubstr("\n## " + name + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("- option `layers` (integer; default 1)"));
  EXPECT_THAT(page, HasSubstr("A gradient, built by the library alone."));
}

}  // namespace
}  // namespace thimble::test::ops_test
