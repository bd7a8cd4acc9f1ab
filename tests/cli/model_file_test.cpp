// Model files in the place of recipes.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cstring>

#include "cli/process.h"
#include "io/npy/npy_write.h"
#include "io/safetensors/safetensors.h"

namespace thimble::test::model_file_cli_test {
namespace {

// Two inputs, two outputs, integers among them; no recipe has this graph.
void save_pair(const std::string& path) {
  Graph g;
  const Value left = g.input("left", {3});
  const Value right = g.input("right", {3});
  const Value label = g.label("label");
  const Value sum = left + right;
  const Value logits = dense(sum, {.units = 2, .name = "d"});
  g.minimize(softmax_cross_entropy(logits, label));
  g.output("sum", sum);
  g.output("doubled", left + left);
  g.output("class", argmax(logits));
  save_model(g, path);
}

template <class T>
void write_array(const std::string& path, const Shape& shape, const std::vector<T>& values) {
  io::write_npy(path, dtype_of<T>(), shape, std::as_bytes(std::span(values)));
}

// The elements behind the header of a .npy file.
template <class T>
std::vector<T> elements(const std::string& path, size_t count) {
  const std::string bytes = read_text(path);
  std::vector<T> values(count);
  if (bytes.size() < count * sizeof(T)) return {};
  std::memcpy(values.data(), bytes.data() + bytes.size() - count * sizeof(T), count * sizeof(T));
  return values;
}

TEST(model_file, stands_in_for_a_recipe_in_every_command) {
  const TemporaryFolder folder;
  const std::string model = folder / "small.safetensors";
  const Outcome saved = run({"save", "lenet5", "-o", model, "--seed", "3", "--json"});
  ASSERT_EQ(saved.code, 0) << saved.err;
  EXPECT_EQ(keys(last_line_json(saved.out)), "recipe file parameters bytes");
  EXPECT_EQ(last_line_json(saved.out)["parameters"], 61706);

  const Outcome summary = run({"summary", model});
  EXPECT_EQ(summary.out, run({"summary", "lenet5"}).out);
  const auto plan = last_line_json(run({"plan", model, "--json"}).out);
  auto wanted = last_line_json(run({"plan", "lenet5", "--json"}).out);
  EXPECT_EQ(plan["planned_peak_bytes"], wanted["planned_peak_bytes"]);
  EXPECT_EQ(plan["data"], "built-in digits");

  // The file's weights are those of the seed: training from it is training of that seed.
  const std::vector<std::string> few{"--epochs", "1", "--limit-train", "128", "--limit-test", "64",
                                     "--seed",   "3", "--threads",     "1",   "--json"};
  std::vector<std::string> of_file{"train", model, "--out", folder / "a"};
  std::vector<std::string> of_recipe{"train", "lenet5", "--out", folder / "b"};
  of_file.insert(of_file.end(), few.begin(), few.end());
  of_recipe.insert(of_recipe.end(), few.begin(), few.end());
  const Outcome trained = run(of_file);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto a = last_line_json(trained.out);
  const auto b = last_line_json(run(of_recipe).out);
  EXPECT_EQ(a["weights_sha256"], b["weights_sha256"]);
  EXPECT_EQ(a["test_loss"], b["test_loss"]);
  EXPECT_EQ(a["recipe"], "small");

  // The file that train wrote is a model file, with or without the recipe's name.
  const std::string checkpoint = folder / "a/checkpoint.safetensors";
  const Outcome of_checkpoint = run({"eval", checkpoint, "--limit-test", "64", "--json"});
  ASSERT_EQ(of_checkpoint.code, 0) << of_checkpoint.err;
  EXPECT_EQ(last_line_json(of_checkpoint.out)["test_loss"], a["test_loss"]);
  const Outcome by_recipe =
      run({"eval", "lenet5", "--checkpoint", checkpoint, "--limit-test", "64", "--json"});
  EXPECT_EQ(last_line_json(by_recipe.out)["test_loss"], a["test_loss"]);
  const std::string slim = folder / "slim.safetensors";
  EXPECT_EQ(run({"save", checkpoint, "-o", slim}).code, 0);
  EXPECT_EQ(io::Safetensors::read(slim).find("conv1.weight.exp_avg"), nullptr);
  EXPECT_EQ(last_line_json(run({"eval", slim, "--limit-test", "64", "--json"}).out)["test_loss"],
            a["test_loss"]);
}

TEST(model_file, samples_where_its_graph_is_that_of_a_recipe) {
  const TemporaryFolder folder;
  const std::string model = folder / "m.safetensors";
  ASSERT_EQ(run({"save", "vae", "-o", model}).code, 0);
  const Outcome sampled = run({"sample", model, "--count", "4", "--out", folder / "s.png"});
  EXPECT_EQ(sampled.code, 0) << sampled.err;
  save_pair(model);
  const Outcome refused = run({"sample", model});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("is that of no recipe"), std::string::npos) << refused.err;
}

TEST(model_file, is_run_forward_by_predict) {
  const TemporaryFolder folder;
  const std::string model = folder / "pair.safetensors";
  save_pair(model);
  write_array<float>(folder / "l.npy", {5, 3}, std::vector<float>(15, 1.5F));
  write_array<int64_t>(folder / "r.npy", {5, 3}, std::vector<int64_t>(15, 2));
  const auto predict = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"predict", model, "--out", folder / "y.npy"});
    return run(more);
  };
  const std::string left = "left=" + (folder / "l.npy");
  const std::string right = "right=" + (folder / "r.npy");
  // Batches of 2, the last of 1; integers of a file become the input's floats.
  const Outcome sums =
      predict({"--input", left, "--input", right, "--output", "sum", "--batch", "2", "--json"});
  ASSERT_EQ(sums.code, 0) << sums.err;
  EXPECT_EQ(keys(last_line_json(sums.out)), "recipe output dtype shape file");
  EXPECT_EQ(last_line_json(sums.out)["shape"], nlohmann::ordered_json({5, 3}));
  EXPECT_EQ(elements<float>(folder / "y.npy", 15), std::vector<float>(15, 3.5F));
  // One output depends on one input: no name is needed, and the other input is not asked for.
  ASSERT_EQ(predict({"--input", folder / "l.npy", "--output", "doubled"}).code, 0);
  EXPECT_EQ(elements<float>(folder / "y.npy", 15), std::vector<float>(15, 3.0F));
  // Integers come out as integers.
  const Outcome classes =
      predict({"--input", left, "--input", right, "--output", "class", "--json"});
  ASSERT_EQ(classes.code, 0) << classes.err;
  EXPECT_EQ(last_line_json(classes.out)["dtype"], "i32");
  for (const int32_t each : elements<int32_t>(folder / "y.npy", 5)) {
    EXPECT_TRUE(each == 0 || each == 1) << each;
  }
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"--input", left}, "name one of: sum, doubled, class"},
      {{"--input", left, "--output", "sums"}, "no output \"sums\"; it has: sum, doubled, class"},
      {{"--input", left, "--output", "sum"}, "right is missing"},
      {{"--input", left, "--input", left, "--output", "sum"}, "left is given twice"},
      {{"--input", folder / "l.npy", "--output", "sum"},
       "does not begin with the name of an input"},
      {{"--input", "middle=" + (folder / "l.npy"), "--output", "doubled"}, "inputs: left"},
  };
  for (const auto& [arguments, said] : wrong) {
    const Outcome outcome = predict(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
  }
  const Outcome none = predict({"--input", folder / "none.npy", "--output", "doubled"});
  EXPECT_EQ(none.code, 1) << none.err;
}

TEST(model_file, that_is_none_is_an_error_of_one_line) {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& argument, int code, const std::string& said) {
    for (const char* const command : {"summary", "plan", "train", "eval"}) {
      const Outcome outcome = run({command, argument});
      EXPECT_EQ(outcome.code, code) << command;
      EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
      EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    }
  };
  refused("lenet6", 2, "there is no recipe and no model file \"lenet6\"; recipes: gpt, lenet5");
  write_text(folder / "text", "neither this nor that");
  refused(folder / "text", 1, "not a safetensors file");
  io::write_safetensors(folder / "plain", {}, {});
  refused(folder / "plain", 1, "holds weights and no graph, so it is no model file");
  save_pair(folder / "pair");
  for (const char* const command : {"train", "eval"}) {
    const Outcome outcome = run({command, folder / "pair"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("name the samples with --data"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(run({"save", folder / "pair", "-o", folder / "x", "--seed", "1"}).code, 2);
}

// A model of no recipe, its samples from arrays by the names of its inputs.
TEST(model_file, of_no_recipe_is_trained_with_data_by_name) {
  const TemporaryFolder folder;
  save_pair(folder / "pair.safetensors");
  std::vector<float> left;
  std::vector<float> right(300, 0.5F);
  std::vector<int32_t> label;
  for (int i = 0; i < 100; ++i) {
    label.push_back(i % 2);
    for (int k = 0; k < 3; ++k) left.push_back(i % 2 == 0 ? 1.0F : -1.0F);
  }
  write_array(folder / "left.npy", {100, 3}, left);
  write_array(folder / "right.npy", {100, 3}, right);
  write_array(folder / "label.npy", {100}, label);
  const std::string data =
      (folder / "left.npy") + "," + (folder / "right.npy") + "," + (folder / "label.npy");
  const Outcome trained = run({"train", folder / "pair.safetensors", "--data", data, "--out",
                               folder / "out", "--lr", "0.1", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto json = last_line_json(trained.out);
  EXPECT_EQ(json["recipe"], "pair");
  EXPECT_EQ(json["epochs"], 10);
  EXPECT_LT(json["test_loss"], 0.3);
  const Outcome judged =
      run({"eval", folder / "out/checkpoint.safetensors", "--data", data, "--json"});
  ASSERT_EQ(judged.code, 0) << judged.err;
  EXPECT_EQ(last_line_json(judged.out)["test_loss"], json["test_loss"]);
}

TEST(model_file, summary_lists_its_parameters) {
  const TemporaryFolder folder;
  const std::string model = folder / "m.safetensors";
  save_pair(model);
  ASSERT_EQ(run({"adapt", model, "--freeze", "d.bias", "-o", folder / "frozen"}).code, 0);
  const Outcome listed = run({"summary", folder / "frozen", "--parameters"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_NE(listed.out.find("\n\nparameter  shape   type  bytes  training  layer\n"
                            "d.weight   [2, 3]  f32      24  trained   d\n"
                            "d.bias     [2]     f32       8  frozen    d\n"),
            std::string::npos)
      << listed.out;
  const auto json =
      last_line_json(run({"summary", folder / "frozen", "--parameters", "--json"}).out);
  EXPECT_EQ(keys(json), "recipe parameters layers parameter_list");
  EXPECT_EQ(keys(json["parameter_list"][1]), "name shape type bytes trained layer");
  EXPECT_EQ(json["parameter_list"][1]["trained"], false);
  const Outcome nothing = run({"adapt", model, "--freeze", "conv*", "-o", folder / "none"});
  EXPECT_NE(nothing.err.find("thimble summary MODEL --parameters"), std::string::npos)
      << nothing.err;
}

TEST(model_file, another_programs_file_is_to_be_imported_first) {
  const TemporaryFolder folder;
  write_text(folder / "m.circle", std::string("\x1c\0\0\0CIR0 and more", 17));
  write_text(folder / "m.tflite", std::string("\x1c\0\0\0TFL3 and more", 17));
  write_text(folder / "m.onnx", "\x08\x07\x12 and more");
  write_text(folder / "m.ini", "[Model]\n");
  write_text(folder / "config.json", "{}");
  for (const char* const name : {"m.circle", "m.tflite", "m.onnx", "m.ini", ""}) {
    const std::string file = folder / name;
    const Outcome done = run({"summary", file});
    EXPECT_EQ(done.code, 1) << file;
    EXPECT_NE(done.err.find("thimble import " + file + " -o "), std::string::npos) << done.err;
  }
  for (const char* const command : {"train", "plan", "quantize"}) {
    std::vector<std::string> line{command, folder / "m.circle"};
    if (line[0] == "quantize") line.insert(line.end(), {"-o", folder / "out"});
    EXPECT_NE(run(line).err.find("thimble import"), std::string::npos) << command;
  }
  write_text(folder / "m.pt", "PK\x03\x04");
  EXPECT_NE(run({"summary", folder / "m.pt"}).err.find("from_torch"), std::string::npos);
  write_text(folder / "m.safetensors", "damaged");
  EXPECT_EQ(run({"summary", folder / "m.safetensors"}).err.find("import"), std::string::npos);
}

TEST(model_file, without_a_loss_does_not_train) {
  const TemporaryFolder folder;
  Graph g;
  g.output("y", dense(g.input("serving_default", {3}), {.units = 2}));
  save_model(g, folder / "m");
  const Outcome trained = run({"train", folder / "m", "--out", folder / "out"});
  EXPECT_EQ(trained.code, 1);
  EXPECT_NE(trained.err.find("has no loss"), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find("thimble adapt " + (folder / "m") + " --loss"), std::string::npos);
  const Outcome evaluated = run({"eval", folder / "m", "--data", folder / "none"});
  EXPECT_EQ(evaluated.code, 1);
  EXPECT_NE(evaluated.err.find("no loss, which is what evaluation measures; thimble adapt " +
                               (folder / "m") + " --loss"),
            std::string::npos)
      << evaluated.err;
  const std::vector<float> pixels(24, 0.5F);
  const std::vector<int32_t> digits(8);
  const std::vector<io::TensorView> arrays{{.name = "pixels",
                                            .dtype = DType::f32,
                                            .shape = {8, 3},
                                            .bytes = std::as_bytes(std::span(pixels))},
                                           {.name = "digit",
                                            .dtype = DType::i32,
                                            .shape = {8},
                                            .bytes = std::as_bytes(std::span(digits))}};
  io::write_safetensors(folder / "samples.safetensors", arrays, {});
  const Outcome quantized = run(
      {"quantize", folder / "m", "--data", folder / "samples.safetensors", "-o", folder / "int8"});
  EXPECT_EQ(quantized.code, 1);
  EXPECT_NE(quantized.err.find("The model has no loss"), std::string::npos) << quantized.err;
  const Outcome unknown =
      run({"train", folder / "m", "--loss", "softmax_cross_entropy", "--label", "digit"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("not expected: --loss softmax_cross_entropy --label digit; --loss is "
                             "an option of import, adapt, configure"),
            std::string::npos)
      << unknown.err;
}

}  // namespace
}  // namespace thimble::test::model_file_cli_test
