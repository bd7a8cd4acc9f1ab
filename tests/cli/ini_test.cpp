// INI models of NNTrainer in commands.
#include <gtest/gtest.h>
#include <thimble/thimble.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/process.h"

namespace thimble::test::ini_cli_test {
namespace {

// Writes a model of two inputs and one output, and four samples for it.
std::string write_model(const TemporaryFolder& folder) {
  std::vector<float> records;
  for (int i = 0; i < 12; ++i) records.push_back(static_cast<float>(i % 5) / 4.0F);
  write_text(folder / "d.dat", std::string(reinterpret_cast<const char*>(records.data()), 48));
  write_text(folder / "m.ini",
             "[Model]\ntype = NeuralNetwork\nloss = mse\nbatch_size = 2\nepochs = 2\n"
             "save_path = m.bin\n[Optimizer]\ntype = sgd\nlearning_rate = 0.1\n"
             "[DataSet]\nTrainData = d.dat\n[in]\ntype = input\ninput_shape = 1:1:2\n"
             "[fc]\ntype = fully_connected\nunit = 1\n");
  return folder / "m.ini";
}

TEST(ini, is_planned_trained_and_imported) {
  const TemporaryFolder folder;
  const std::string model = write_model(folder);
  const auto peak = [&](const char* batch) {
    const Outcome plan = run({"plan", model, "--batch", batch, "--json"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    return nlohmann::json::parse(plan.out)["planned_peak_bytes"].get<int64_t>();
  };
  EXPECT_GT(peak("64"), peak("2"));
  const Outcome trained = run({"train", model, "--threads", "1", "--out", folder / "out"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("#2/2 - Training Loss: "), std::string::npos) << trained.out;
  const Outcome made = run({"import", model, "-o", folder / "m.safetensors"});
  ASSERT_EQ(made.code, 0) << made.err;
  // The weights that training saved as BIN.
  Predictor left(folder / "out/model.safetensors");
  Predictor right(folder / "m.safetensors");
  const std::map<std::string, Array> input{{"in", std::vector<float>{1.0F, 2.0F}}};
  EXPECT_EQ(left.run(input).at("output0").floats(), right.run(input).at("output0").floats());
}

// A folder for the swap file lets a plan swap.
TEST(ini, swaps_to_a_folder) {
  const TemporaryFolder folder;
  std::string text =
      "[Model]\ntype = x\nloss = mse\nbatch_size = 64\n[Optimizer]\ntype = sgd\n"
      "[in]\ntype = input\ninput_shape = 1:1:64\n";
  for (int i = 0; i < 3; ++i) {
    text += "[fc" + std::to_string(i) + "]\ntype = fully_connected\nunit = 64\n";
    text += "activation = tanh\n";
  }
  write_text(folder / "m.ini", text);
  const auto swapped = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"plan", folder / "m.ini", "--json"});
    const Outcome plan = run(options);
    EXPECT_EQ(plan.code, 0) << plan.err;
    const auto json = nlohmann::json::parse(plan.out);
    EXPECT_EQ(json["trained_parameters"], json["parameters"]);
    return json["swap_file_bytes"].get<int64_t>();
  };
  EXPECT_EQ(swapped({}), 0);
  EXPECT_GT(swapped({"--swap-dir", folder.path()}), 0);
}

TEST(ini, says_what_is_wrong) {
  const TemporaryFolder folder;
  const std::string model = write_model(folder);
  const Outcome option = run({"train", model, "--optimizer", "adam"});
  EXPECT_EQ(option.code, 2);
  EXPECT_NE(option.err.find("--optimizer"), std::string::npos) << option.err;
  EXPECT_EQ(run({"plan", model, "--memory-budget", "much"}).code, 2);
  write_text(folder / "bad.ini", "[Model]\ntype = x\n[fc]\ntype = fully_connected\nunit = 0\n");
  const Outcome bad = run({"plan", folder / "bad.ini"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("unit=0: expected a whole number from 1"), std::string::npos) << bad.err;
}

}  // namespace
}  // namespace thimble::test::ini_cli_test
