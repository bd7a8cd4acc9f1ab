// `--scheme` of `thimble plan`, `train` and `compile`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/process.h"

namespace thimble::test::scheme_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

nlohmann::ordered_json json_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.code == 0 ? last_line_json(outcome.out) : nlohmann::ordered_json();
}

// Of lenet5: 16 x 25 weights of each of 3 channels, 84 + 10 biases.
constexpr const char* kScheme = R"({"bias_last": 2, "weights": {"conv2": 0.5}})";
constexpr int64_t kTrained = 16 * 25 * 3 + 84 + 10;

TEST(cli_scheme, is_planned_with_less_memory) {
  const TemporaryFolder folder;
  write_text(folder / "s.json", kScheme);
  const std::vector<std::string> whole{"plan",      "lenet5", "--batch", "8",
                                       "--threads", "1",      "--json"};
  std::vector<std::string> sparse = whole;
  sparse.insert(sparse.end(), {"--scheme", folder / "s.json"});
  const auto less = json_of(run(sparse));
  const auto more = json_of(run(whole));
  EXPECT_EQ(less["trained_parameters"], kTrained);
  EXPECT_EQ(more["trained_parameters"], more["parameters"]);
  EXPECT_EQ(less["state_bytes"], 2 * 4 * kTrained);
  EXPECT_LT(less["planned_peak_bytes"].get<int64_t>(), more["planned_peak_bytes"].get<int64_t>());
  sparse.erase(std::find(sparse.begin(), sparse.end(), "--json"));
  EXPECT_THAT(run(sparse).out, HasSubstr("trained: 1,294 of 61,706 parameters\n"));
}

TEST(cli_scheme, trains_compiles_and_resumes_with_the_same_bits) {
  const TemporaryFolder folder;
  write_text(folder / "s.json",
             R"({"bias_last": 2, "weights": {"conv2": 0.5}, "choice": "contribution"})");
  const std::string data_free = folder / "s.json";
  const auto training = [&](const std::string& out, const std::string& epochs) {
    return short_training(
        "lenet5", folder / out,
        {"--scheme", data_free, "--epochs", epochs, "--optimizer", "sgd:lr=0.01", "--json"});
  };
  const Outcome straight = run(training("a", "2"));
  const auto wanted = json_of(straight);
  EXPECT_THAT(straight.err, HasSubstr("trained: 1,294 of 61,706 parameters"));
  static_cast<void>(json_of(run(training("b", "1"))));
  std::vector<std::string> resumed = training("b", "2");
  resumed.insert(resumed.end(), {"--resume", folder / "b/checkpoint.safetensors"});
  EXPECT_EQ(json_of(run(resumed))["weights_sha256"], wanted["weights_sha256"]);
  // The file of a sparse training is one of any other.
  const Outcome other = run(short_training(
      "lenet5", folder / "c", {"--weights", folder / "a/checkpoint.safetensors", "--json"}));
  EXPECT_EQ(other.code, 0) << other.err;
}

TEST(cli_scheme, says_what_is_wrong_with_a_scheme) {
  const TemporaryFolder folder;
  const auto error = [&](const char* scheme) {
    write_text(folder / "s.json", scheme);
    const Outcome outcome = run({"plan", "lenet5", "--scheme", folder / "s.json"});
    EXPECT_NE(outcome.code, 0);
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(error("{"), AllOf(HasSubstr("s.json"), HasSubstr("is not JSON")));
  EXPECT_THAT(error(R"({"weights": {"conv3": 1}})"), HasSubstr("the nearest is \"conv1\""));
  EXPECT_THAT(error(R"({"bias_last": 9})"), HasSubstr("only 5 layers of the model have a bias"));
  EXPECT_THAT(run({"plan", "lenet5", "--scheme", folder / "none.json"}).err,
              HasSubstr("none.json"));
}

TEST(search, finds_a_scheme_that_train_takes) {
  const TemporaryFolder folder;
  ASSERT_EQ(run({"train", "lenet5", "--epochs", "1", "--limit-train", "256", "--limit-test", "64",
                 "--out", folder / "out"})
                .code,
            0);
  const std::string weights = folder / "out/checkpoint.safetensors";
  const std::string parts = folder / "parts.json";
  const std::string scheme = folder / "scheme.json";
  const Outcome found = run({"analyze", "lenet5", "--weights", weights, "--optimizer", "sgd",
                             "--limit-train", "64", "--limit-test", "64", "--layer", "conv*",
                             "--ratio", "0.5,1", "-o", parts, "--report", folder / "parts.html"});
  ASSERT_EQ(found.code, 0) << found.err;
  EXPECT_NE(found.out.find("conv2 0.5"), std::string::npos) << found.out;
  EXPECT_NE(read_text(folder / "parts.html").find("<svg"), std::string::npos);
  const std::vector<std::string> search = {
      "search",          "lenet5", "--optimizer", "sgd",  "--parts",  parts,
      "--memory-budget", "8MiB",   "-o",          scheme, "--report", folder / "s.html"};
  const Outcome best = run(search);
  ASSERT_EQ(best.code, 0) << best.err;
  EXPECT_NE(best.out.find("proved the best"), std::string::npos) << best.out;
  EXPECT_NE(read_text(folder / "s.html").find("<circle"), std::string::npos);
  std::vector<std::string> as_json = search;
  as_json.push_back("--json");
  EXPECT_EQ(keys(json_of(run(as_json))),
            "scheme gain bytes is_best plans recipe file core instructions");
  const Outcome planned = run({"plan", "lenet5", "--optimizer", "sgd", "--scheme", scheme});
  EXPECT_EQ(planned.code, 0) << planned.err;
  // With trainings of it and of others, among them a given one.
  write_text(folder / "own.json", R"({"bias_last": 2, "weights": {"dense2": 0.5}})");
  std::vector<std::string> verified = as_json;
  for (const std::string& word :
       {std::string("--weights"), weights, std::string("--verify"), std::string("2"),
        std::string("--limit-train"), std::string("64"), std::string("--limit-test"),
        std::string("64"), std::string("--candidate"), folder / "own.json"}) {
    verified.push_back(word);
  }
  const Outcome trained = run(verified);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto best_trained = nlohmann::ordered_json::parse(trained.out);
  EXPECT_EQ(keys(best_trained),
            "scheme gain bytes is_best plans recipe file core instructions score others");
  EXPECT_FALSE(best_trained["others"].empty());
  for (const auto& other : best_trained["others"]) {
    EXPECT_LE(other["score"], best_trained["score"]);
  }
  EXPECT_NE(read_text(folder / "s.html").find("Candidates"), std::string::npos);
  std::vector<std::string> longer = verified;
  longer.insert(longer.end(), {"--epochs", "2", "--lr", "0.5"});
  EXPECT_THAT(run(longer).err,
              AllOf(HasSubstr(R"(epochs "1" (now "2"))"), HasSubstr("analyze with these")));
  std::vector<std::string> no_training = search;
  no_training.insert(no_training.end(), {"--verify", "0", "--candidate", folder / "own.json"});
  EXPECT_THAT(run(no_training).err, HasSubstr("give it a --verify above 0"));
  std::vector<std::string> small = search;
  small[7] = "64KiB";
  const Outcome none = run(small);
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("dense3 alone takes"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace thimble::test::scheme_test
