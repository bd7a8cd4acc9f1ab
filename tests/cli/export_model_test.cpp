// Models for other programs.
#include <gtest/gtest.h>
#include <thimble/import.h>
#include <thimble/thimble.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/process.h"
#include "ir/graph.h"

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

TEST(export_model, writes_a_part_of_a_recipe) {
  const TemporaryFolder folder;
  for (const char* const name : {"vae", "unet_ddpm", "mlp"}) {
    save_model(find_recipe(name).build(), folder / name);
  }
  struct Case {
    const char* recipe;
    const char* part;
    std::vector<std::string> inputs;
  };
  const Case cases[] = {{"vae", "decoder", {"z"}},
                        {"unet_ddpm", "denoiser", {"x", "time", "digit", "told"}}};
  for (const Case& c : cases) {
    for (const auto& [command, name] :
         {std::pair{"export-tflite", "part.tflite"}, std::pair{"export-onnx", "part.onnx"}}) {
      const Outcome made = run({command, folder / c.recipe, "--part", c.part, "-o", folder / name});
      ASSERT_EQ(made.code, 0) << made.err;
      std::vector<std::string> inputs;
      const Graph again = import_model(folder / name);
      for (const ir::ValueData& value : again.ir().values) {
        if (value.role == ir::Role::input) inputs.push_back(*value.name);
      }
      EXPECT_EQ(inputs, c.inputs) << command;
    }
  }
  const Outcome whole = run({"export-tflite", folder / "unet_ddpm", "-o", folder / "m.tflite"});
  EXPECT_EQ(whole.code, 1);
  EXPECT_NE(whole.err.find("draw no random numbers"), std::string::npos) << whole.err;
  const Outcome none =
      run({"export-onnx", folder / "mlp", "--part", "decoder", "-o", folder / "m.onnx"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("mlp has no decoder"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace thimble::test::export_model_cli_test
