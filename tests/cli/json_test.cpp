// The output of --json: one object, the last line of standard output, with fixed keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <regex>

#include "cli/process.h"

namespace thimble::test::json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kTrainKeys =
    "recipe epochs steps train_loss test_loss test_accuracy test_metrics inception_score "
    "recognition "
    "seconds ms_per_step_median planned_peak_bytes input_pipeline_bytes measured_peak_bytes "
    "swap_read_bytes "
    "swap_written_bytes swap_busy_ms swap_stall_ms swap_expected_stall_ms loss_scale "
    "skipped_updates peak_rss_bytes "
    "parameters weights_sha256";
constexpr const char* kRecognitionKeys =
    "images recognised kinds real_images real_recognised real_kinds";
constexpr const char* kPlanKeys =
    "planned_peak_bytes lower_bound_bytes parameter_bytes read_only_bytes parameters "
    "trained_parameters state_bytes constant_bytes padding_bytes "
    "saved_state_bytes "
    "activation_peak_bytes "
    "workspace_bytes arena_bytes in_file_bytes staging_bytes swap_file_bytes no_swap "
    "input_pipeline_bytes reserved_bytes data samples micro_batches fits budget_bytes "
    "nearest_feasible_bytes binding strategies candidates decisions swap_read_bytes "
    "swap_written_bytes swap_busy_ms "
    "swap_stall_ms step_ms buffers";

TEST(cli_json, of_train_has_its_keys_and_progress_goes_to_standard_error) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run(short_training("lenet5", folder / "out", {"--epochs", "2", "--batch", "32", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 1);
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json), kTrainKeys);
  EXPECT_EQ(json["recipe"], "lenet5");
  EXPECT_EQ(json["epochs"], 2);
  EXPECT_EQ(json["steps"], 10);
  EXPECT_GT(json["train_loss"], 0.0);
  EXPECT_GT(json["test_loss"], 0.0);
  EXPECT_GE(json["test_accuracy"], 0.0);
  EXPECT_LE(json["test_accuracy"], 1.0);
  EXPECT_EQ(json["test_metrics"]["accuracy"], json["test_accuracy"]);
  EXPECT_TRUE(json["inception_score"].is_null());
  EXPECT_TRUE(json["recognition"].is_null());
  EXPECT_GT(json["seconds"], 0.0);
  EXPECT_GT(json["ms_per_step_median"], 0.0);
  EXPECT_GT(json["peak_rss_bytes"], json["planned_peak_bytes"]);
  EXPECT_EQ(json["parameters"], 61706);
  EXPECT_TRUE(json["loss_scale"].is_null());
  EXPECT_EQ(json["skipped_updates"], 0);
  EXPECT_TRUE(
      std::regex_match(json["weights_sha256"].get<std::string>(), std::regex("[0-9a-f]{64}")));
  EXPECT_THAT(outcome.err, HasSubstr("epoch  1/2"));
  EXPECT_THAT(outcome.err, HasSubstr("epoch  2/2"));
  // Not a terminal: plain lines, no bar and no cursor moves.
  EXPECT_EQ(outcome.err.find_first_of("\r\033"), std::string::npos);
}

TEST(cli_json, of_a_training_in_f16_has_the_loss_scale) {
  const TemporaryFolder folder;
  const Outcome outcome = run(short_training("lenet5", folder / "out",
                                             {"--epochs", "1", "--batch", "32", "--precision",
                                              "f16", "--loss-scale", "1099511627776", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_GT(json["skipped_updates"], 0);
  EXPECT_EQ(json["loss_scale"].get<double>() * std::exp2(json["skipped_updates"].get<double>()),
            1099511627776.0);
}

TEST(cli_json, of_a_generator_has_an_inception_score_and_no_accuracy) {
  const TemporaryFolder folder;
  const Outcome outcome = run(short_training("vae", folder / "out", {"--epochs", "1", "--json"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json), kTrainKeys);
  EXPECT_TRUE(json["test_accuracy"].is_null());
  EXPECT_GE(json["inception_score"], 1.0);
  EXPECT_LE(json["inception_score"], 10.0);
  EXPECT_EQ(keys(json["recognition"]), kRecognitionKeys);
  EXPECT_EQ(json["recognition"]["images"], 2000);
  for (const char* file : {"report.html", "reconstructions.png", "samples.png",
                           "checkpoint.safetensors", "classifier.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / (std::string("out/") + file))) << file;
  }
  EXPECT_THAT(read_text(folder / "out/samples.png"), StartsWith("\x89PNG\r\n"));
  // Self-contained: nothing is loaded from elsewhere.
  const std::string report = read_text(folder / "out/report.html");
  EXPECT_EQ(report.find("http"), std::string::npos);
  EXPECT_EQ(report.find("src=\"/"), std::string::npos);
  EXPECT_THAT(report, HasSubstr("vae on built-in digits"));
}

TEST(cli_json, of_plan_adds_up) {
  const Outcome outcome = run({"plan", "vae", "--batch", "8", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 1);
  const nlohmann::ordered_json json = last_line_json(outcome.out);
  EXPECT_EQ(keys(json), kPlanKeys);
  EXPECT_LE(json["lower_bound_bytes"], json["planned_peak_bytes"]);
  EXPECT_EQ(json["parameter_bytes"], 4 * 20174);
  EXPECT_EQ(json["fits"], true);
  EXPECT_TRUE(json["budget_bytes"].is_null());
  EXPECT_EQ(keys(json["binding"]), "step op layer");
  EXPECT_TRUE(json["strategies"].is_array());
  ASSERT_TRUE(json["buffers"].is_array());
  EXPECT_EQ(keys(json["buffers"][0]), "name role dtype shape bytes offset birth death made");
  EXPECT_EQ(json["buffers"][0]["made"], "first");
  EXPECT_GT(json["buffers"].size(), 20U);
  const auto larger = last_line_json(run({"plan", "vae", "--batch", "64", "--json"}).out);
  EXPECT_GT(larger["planned_peak_bytes"], json["planned_peak_bytes"]);
}

constexpr const char* kStrategyKeys =
    "name detail saved_bytes left_bytes extra_flops extra_io_bytes predicted_ms lossless";

TEST(cli_json, of_plan_says_whether_a_budget_is_kept) {
  const auto plan = [](const std::string& budget) {
    return run(
        {"plan", "vae", "--batch", "8", "--threads", "1", "--memory-budget", budget, "--json"});
  };
  const Outcome roomy = plan("64MiB");
  EXPECT_EQ(roomy.code, 0) << roomy.err;
  const auto kept = last_line_json(roomy.out);
  EXPECT_EQ(kept["fits"], true);
  EXPECT_EQ(kept["budget_bytes"], 64 << 20);
  for (const auto& strategy : kept["strategies"]) EXPECT_EQ(keys(strategy), kStrategyKeys);

  const Outcome tight = plan("1KiB");
  EXPECT_EQ(tight.code, 1);
  EXPECT_EQ(lines(tight.err), 1) << tight.err;
  const auto refused = last_line_json(tight.out);
  EXPECT_EQ(keys(refused), kPlanKeys);
  EXPECT_EQ(refused["fits"], false);
  const auto nearest = refused["nearest_feasible_bytes"].get<int64_t>();
  EXPECT_GT(nearest, 1024);
  EXPECT_THAT(tight.err, HasSubstr(std::to_string(nearest)));
  // The named budget can be kept.
  const Outcome named = plan(std::to_string(nearest));
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_EQ(last_line_json(named.out)["fits"], true);
}

TEST(cli_json, of_plan_names_one_nearest_budget_with_a_budget_and_without) {
  const auto nearest = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"plan", "vae", "--batch", "8", "--threads", "1", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return last_line_json(run(words).out)["nearest_feasible_bytes"].get<int64_t>();
  };
  const int64_t free = nearest({});
  EXPECT_EQ(nearest({"--memory-budget", "1KiB"}), free);
  EXPECT_EQ(nearest({"--memory-budget", "64MiB"}), free);
}

TEST(cli_json, of_plan_counts_the_samples_that_will_be_read) {
  const TemporaryFolder folder;
  const auto words = [&](const std::string& command, const std::vector<std::string>& more) {
    std::vector<std::string> all{command, "mlp", "--batch", "8", "--threads", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto few = last_line_json(run(words("plan", {"--limit-train", "16", "--json"})).out);
  EXPECT_EQ(few["samples"], 16);
  EXPECT_EQ(few["data"], "built-in digits");
  const auto all = last_line_json(run(words("plan", {"--json"})).out);
  EXPECT_GT(all["samples"], 16);
  EXPECT_GT(all["input_pipeline_bytes"], few["input_pipeline_bytes"]);
  EXPECT_GT(all["nearest_feasible_bytes"], few["nearest_feasible_bytes"]);
  // Training the same samples takes exactly the bytes that a plan names.
  const auto train = [&](int64_t budget) {
    return run(
        words("train", {"--epochs", "1", "--limit-train", "16", "--limit-test", "16",
                        "--memory-budget", std::to_string(budget), "--out", folder / "out"}));
  };
  const auto nearest = few["nearest_feasible_bytes"].get<int64_t>();
  const Outcome kept = train(nearest);
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(train(nearest - 1).code, 1);
  const Outcome missing = run(words("plan", {"--data", folder / "none"}));
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr(folder / "none"));
}

// The step's peak excludes the smaller last batch and the program of the evaluation.
TEST(cli_json, of_train_has_the_peak_of_the_plan) {
  const TemporaryFolder folder;
  const auto trained = last_line_json(
      run(short_training("lenet5", folder / "out", {"--epochs", "1", "--batch", "7", "--json"}))
          .out);
  const auto plan =
      last_line_json(run({"plan", "lenet5", "--batch", "7", "--threads", "1", "--json"}).out);
  EXPECT_EQ(trained["planned_peak_bytes"], plan["planned_peak_bytes"]);
}

TEST(cli_json, of_micro_batches_is_that_of_the_whole_batch) {
  const TemporaryFolder folder;
  const auto trained = [&](const char* parts) {
    const Outcome outcome =
        run(short_training("lenet5", folder / "out",
                           {"--epochs", "1", "--batch", "30", "--optimizer", "sgd:lr=0.01",
                            "--micro-batches", parts, "--json"}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return last_line_json(outcome.out);
  };
  const auto whole = trained("1");
  const auto parts = trained("4");
  EXPECT_EQ(parts["steps"], whole["steps"]);
  EXPECT_NEAR(parts["test_loss"].get<double>(), whole["test_loss"].get<double>(), 1e-5);
  EXPECT_LT(parts["planned_peak_bytes"], whole["planned_peak_bytes"]);
}

TEST(cli_json, of_the_other_commands_is_one_object) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(short_training("vae", folder / "out", {"--epochs", "1"})).code, 0);
  const std::string checkpoint = folder / "out/checkpoint.safetensors";
  const std::vector<std::vector<std::string>> commands{
      {"eval", "vae", "--checkpoint", checkpoint, "--limit-test", "32"},
      {"sample", "vae", "--checkpoint", checkpoint, "--count", "4", "--out", folder / "s.png"},
      {"summary", "mlp"},
      {"ops"},
      {"version"}};
  for (std::vector<std::string> command : commands) {
    command.emplace_back("--json");
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << command[0] << outcome.err;
    EXPECT_EQ(lines(outcome.out), 1) << command[0];
    EXPECT_TRUE(last_line_json(outcome.out).is_object()) << command[0];
  }
  EXPECT_THAT(read_text(folder / "s.png"), StartsWith("\x89PNG\r\n"));
}

TEST(cli_json, of_sample_judges_images_where_there_is_a_classifier) {
  const TemporaryFolder folder;
  const Outcome trained = run(short_training("vae", folder / "out", {"--epochs", "1"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("160 training images alone (--limit-train)"));
  const std::vector<std::string> sample{"sample",       "vae",
                                        "--checkpoint", folder / "out/checkpoint.safetensors",
                                        "--count",      "4",
                                        "--limit-test", "32",
                                        "--out",        folder / "s.png",
                                        "--json"};
  const Outcome judged = run(sample);
  const auto with = last_line_json(judged.out);
  // A warning says that the judge has seen little data.
  EXPECT_THAT(judged.err, HasSubstr("was trained for 9 steps, not the "));
  EXPECT_EQ(keys(with), "recipe count file recognition");
  EXPECT_EQ(keys(with["recognition"]), kRecognitionKeys);
  EXPECT_EQ(with["recognition"]["images"], 4);
  EXPECT_EQ(with["recognition"]["real_images"], 4);
  std::filesystem::rename(folder / "out/classifier.safetensors", folder / "judge");
  const Outcome without = run(sample);
  EXPECT_TRUE(last_line_json(without.out)["recognition"].is_null());
  EXPECT_THAT(without.err, HasSubstr("classifier.safetensors"));
  std::vector<std::string> named = sample;
  named.insert(named.end(), {"--classifier", folder / "judge"});
  EXPECT_EQ(last_line_json(run(named).out), with);
}

TEST(cli_summary, has_name_type_shape_parameters_and_inputs_per_layer) {
  const Outcome outcome = run({"summary", "mlp"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out,
              ::testing::ContainsRegex("layer +type +output shape +parameters +inputs"));
  EXPECT_THAT(outcome.out, HasSubstr("669706 parameters"));
  const auto json = last_line_json(run({"summary", "mlp", "--json"}).out);
  int64_t sum = 0;
  for (const auto& layer : json["layers"]) {
    EXPECT_EQ(keys(layer), "name type output_shape parameters inputs") << layer;
    sum += layer["parameters"].get<int64_t>();
  }
  EXPECT_EQ(sum, 669706);
}

}  // namespace
}  // namespace thimble::test::json_test
