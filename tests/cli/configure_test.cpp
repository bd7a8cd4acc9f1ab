// thimble configure: what it writes and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cli/export_c.h"
#include "cli/two_stages_model.h"
#include "import/tflite/file.h"
#include "io/atomic_file.h"

namespace thimble::test::configure_test {
namespace {

using ::testing::HasSubstr;

class configure : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(configure, gradients_are_custom_operators_of_a_circle_file) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const std::string folder = folder_ / "files";
  const Outcome outcome = run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "adam",
                               "--optimizer", "sgd", "--optimizer", "momentum", "--optimizer",
                               "rmsprop", "--batch", "2", "--json", "--out", folder});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto listed = last_line_json(outcome.out)["gradients"];
  ASSERT_EQ(listed.size(), 4U);
  size_t n = 0;
  for (const auto& [name, update, states] : {std::tuple{"gradients.circle", "AdamUpdate", 2U},
                                             {"gradients_2.circle", "SgdUpdate", 0U},
                                             {"gradients_3.circle", "SgdUpdate", 1U},
                                             {"gradients_4.circle", "RmspropUpdate", 1U}}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(listed[n++]["file"], name);
    const std::string path = folder + "/" + name;
    const tflite::File file = tflite::File::read(path);
    std::map<std::string, int> count;
    for (const tflite::OperatorInfo& info : file.operators()) ++count[info.custom];
    EXPECT_EQ(count["Conv2DWeightGrad"], 2);
    EXPECT_EQ(count["Conv2DInputGrad"], 1);
    EXPECT_EQ(count[update], 8);
    EXPECT_EQ(count["SoftmaxCrossEntropyGrad"], 1);
    EXPECT_EQ(count[""], 0);
    EXPECT_EQ(file.outputs().size(), 8 * (1 + states));
    EXPECT_THAT(io::read_file(path, kMostTwoStagesBytes), HasSubstr("ONE_train_inform"));
  }
  EXPECT_EQ(listed[2]["optimizer"], "momentum");
  EXPECT_EQ(listed[2]["batch"], 2);
  // Another choice leaves none of these.
  EXPECT_EQ(run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "adam", "--optimizer",
                 "sgd", "--out", folder})
                .code,
            0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/gradients_2.circle"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/gradients_3.circle"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/gradients_4.circle"));
}

TEST_F(configure, auto_trains_what_the_budget_holds) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const auto configured = [&](const std::string& budget) {
    const Outcome outcome =
        run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd", "--trainable",
             "auto", "--memory-budget", budget, "--json", "--out", folder_ / "files"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.code == 0 ? last_line_json(outcome.out) : nlohmann::ordered_json();
  };
  const auto all = configured("64KiB");
  EXPECT_EQ(all["trained"].size(), 8U);
  const auto few = configured(std::to_string(all["memory_bytes"].get<int64_t>() * 3 / 5));
  EXPECT_LT(few["trained"].size(), 8U);
  EXPECT_GE(few["trained"].size(), 2U);
  EXPECT_LE(few["memory_bytes"], few["memory_budget"]);
  EXPECT_THAT(few["trained"].dump(), HasSubstr("dense_2.weight"));
  const Outcome refused =
      run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd", "--trainable",
           "auto", "--memory-budget", "1KiB", "--out", folder_ / "none"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot be kept, whatever is trained"));
}

TEST_F(configure, a_budget_that_is_too_small_names_the_least_one) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  for (const std::string trainable : {"*", "auto"}) {
    SCOPED_TRACE(trainable);
    const auto configured = [&](int64_t budget) {
      return run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "adam",
                  "--optimizer", "sgd", "--batch", "1", "--batch", "8", "--trainable", trainable,
                  "--memory-budget", std::to_string(budget), "--out", folder_ / "files"});
    };
    const std::string refused = configured(1024).err;
    const std::string before = trainable == "auto" ? "trained; " : "kept; ";
    const size_t at = refused.find(before);
    ASSERT_NE(at, std::string::npos) << refused;
    const int64_t least = std::stoll(refused.substr(at + before.size()));
    EXPECT_EQ(configured(least).code, 0);
    EXPECT_EQ(configured(least - 1).code, 1);
  }
}

TEST_F(configure, wrong_values_are_errors_of_the_command_line) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const std::string other = folder_ / "choices.json";
  std::ofstream(other) << "{\"kernels\": []}";
  for (const auto& [option, value, code, message] :
       {std::tuple{"--optimizer", "foo", 2, "unknown name \"foo\""},
        {"--optimizer", "sgd:lr=abc", 2, "abc"},
        {"--metric", "foo", 2, "no metric \"foo\""},
        {"--trainable", "nothing*", 2, "nothing*"},
        {"--trainable", "auto,dense_1*", 2, "give it alone"},
        {"--optimizer", "lion", 1, "Take another optimizer"},
        {"--runtime", other.c_str(), 1, "is no list of kernels"}}) {
    SCOPED_TRACE(value);
    const Outcome outcome = run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd",
                                 option, value, "--out", folder_ / "none"});
    EXPECT_EQ(outcome.code, code);
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  for (const std::string trainable : {"*", "auto"}) {
    const Outcome outcome = run({"configure", model, "--loss", "softmax", "--optimizer", "sgd",
                                 "--trainable", trainable, "--out", folder_ / "none"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("no loss \"softmax\""));
  }
}

TEST_F(configure, of_a_model_on_int8_says_what_trains_it) {
  const std::string model = folder_ / "q.tflite";
  ASSERT_EQ(run({"save", "lenet5", "-o", folder_ / "f.safetensors"}).code, 0);
  ASSERT_EQ(run({"quantize", folder_ / "f.safetensors", "--requantization", "fixed_point",
                 "--samples", "16", "-o", folder_ / "q.safetensors"})
                .code,
            0);
  ASSERT_EQ(run({"export-tflite", folder_ / "q.safetensors", "-o", model}).code, 0);
  for (const std::string trainable : {"*", "auto"}) {
    const Outcome outcome =
        run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd", "--trainable",
             trainable, "--memory-budget", "60KiB", "--out", folder_ / "none"});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("by C sources (thimble export-c)"));
  }
}

TEST_F(configure, choices_that_are_given_twice_count_once) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const Outcome outcome = run({"configure", model, "--loss", kTwoStagesLoss, "--optimizer", "sgd",
                               "--optimizer", "adam", "--optimizer", "sgd", "--batch", "2",
                               "--batch", "2", "--json", "--out", folder_ / "files"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = last_line_json(outcome.out);
  EXPECT_EQ(json["optimizers"], nlohmann::ordered_json({"sgd", "adam"}));
  EXPECT_EQ(json["batches"], nlohmann::ordered_json::array({2}));
}

// Lists of patterns are alike in all commands.
TEST_F(configure, patterns_have_commas_between_them) {
  const std::string model = folder_ / "mine.circle";
  write_two_stages_model(model);
  const auto imported = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{"import", model, "--out", folder_ / "mine.safetensors"};
    words.insert(words.end(), options.begin(), options.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return io::read_file(folder_ / "mine.safetensors", kMostTwoStagesBytes);
  };
  const std::string all = imported({});
  const std::string one_by_one = imported({"--freeze", "dense_2*", "--freeze", "conv2d_1.bias"});
  EXPECT_NE(one_by_one, all);
  EXPECT_EQ(imported({"--freeze", "dense_2*,conv2d_1.bias"}), one_by_one);
  EXPECT_EQ(
      imported({"--freeze", "*", "--trainable", "conv2d_1.bias,dense_2.bias"}),
      imported({"--freeze", "*", "--trainable", "dense_2.bias", "--trainable", "conv2d_1.bias"}));
}

}  // namespace
}  // namespace thimble::test::configure_test
