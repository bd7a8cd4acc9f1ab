// Models for other programs.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include "cli/process.h"

namespace thimble::test::export_model_cli_test {
namespace {

TEST(export_model, writes_what_import_reads) {
  const TemporaryFolder folder;
  Graph g;
  const Value x = g.input("image", {8, 8, 1});
  const Value scores = dense(flatten(relu(conv2d(x, {.channels = 2, .kernel = 3}))), {.units = 4});
  g.minimize(softmax_cross_entropy(scores, g.label("digit")));
  g.output("scores", softmax(scores));
  save_model(g, folder / "m.safetensors");
  const std::pair<const char*, const char*> files[] = {
      {"export-tflite", "m.tflite"}, {"export-tflite", "m.circle"}, {"export-onnx", "m.onnx"}};
  for (const auto& [command, name] : files) {
    const Outcome made = run({command, folder / "m.safetensors", "-o", folder / name, "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_EQ(keys(last_line_json(made.out)), "file bytes");
    const Outcome read = run({"import", folder / name, "--loss", "softmax_cross_entropy", "--label",
                              "digit", "--head", "replace:10", "--freeze", "conv2d_1.*", "-o",
                              folder / "again.safetensors", "--json"});
    ASSERT_EQ(read.code, 0) << read.err;
    EXPECT_EQ(last_line_json(read.out)["parameters"], 2 * 9 + 2 + 72 * 10 + 10);
  }
  const Outcome planned = run({"plan", folder / "again.safetensors", "--batch", "4"});
  EXPECT_EQ(planned.code, 0) << planned.err;
}

TEST(export_model, refuses_other_names_and_ops) {
  const TemporaryFolder folder;
  Graph g;
  g.output("y", cummax(g.input("x", {2})).values);
  save_model(g, folder / "m.safetensors");
  struct Case {
    const char* command;
    const char* wrong;
    const char* endings;
    const char* name;
  };
  const Case cases[] = {{"export-tflite", "m.onnx", "ends in .tflite or .circle", "m.tflite"},
                        {"export-onnx", "m.tflite", "ends in .onnx", "m.onnx"}};
  for (const Case& c : cases) {
    const Outcome name = run({c.command, "lenet5", "-o", folder / c.wrong});
    EXPECT_EQ(name.code, 2);
    EXPECT_NE(name.err.find(c.endings), std::string::npos) << name.err;
    const Outcome op = run({c.command, folder / "m.safetensors", "-o", folder / c.name});
    EXPECT_EQ(op.code, 1);
    EXPECT_NE(op.err.find("the op cummax"), std::string::npos) << op.err;
  }
}

}  // namespace
}  // namespace thimble::test::export_model_cli_test
