// `thimble plan` as a person uses it: its text, its page, its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.h"

namespace thimble::test::plan_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> plan_of_mlp(const std::vector<std::string>& more) {
  std::vector<std::string> all{"plan", "mlp", "--batch", "8", "--threads", "1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(cli_plan, says_whether_the_budget_is_kept) {
  const Outcome kept = run(plan_of_mlp({"--memory-budget", "64MiB"}));
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("budget 64.00 MiB (67,108,864 B): kept, "));
  EXPECT_THAT(kept.out, HasSubstr("peak at op"));
  EXPECT_THAT(kept.out, HasSubstr("training samples of built-in digits, none read ahead\n"));
  EXPECT_THAT(kept.out, HasSubstr("bytes saved  bytes left   time cost"));
  const Outcome refused = run(plan_of_mlp({"--memory-budget", "1MiB"}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("budget 1.00 MiB (1,048,576 B): cannot be kept"));
  EXPECT_THAT(refused.out, HasSubstr("nearest budget that can: "));
  EXPECT_THAT(refused.out, HasSubstr("peak at op"));
  EXPECT_EQ(lines(refused.err), 1) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("thimble: [memory budget] no plan of batch 8 keeps 1.00 MiB "
                                     "(1,048,576 B); peak at "));
  EXPECT_THAT(refused.err,
              ::testing::ContainsRegex(", with .+ [(][0-9,]+ B[)], .+ and .+[.] Nearest budget"));
}

TEST(cli_plan, counts_the_reading_of_as_many_samples_as_it_is_told) {
  const auto reading_bytes = [](const std::vector<std::string>& more) {
    std::vector<std::string> all = plan_of_mlp(more);
    all.emplace_back("--json");
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_TRUE(json["data"].is_null());
    return json["input_pipeline_bytes"].get<int64_t>();
  };
  EXPECT_EQ(reading_bytes({"--samples", "1000"}), 2000);
  EXPECT_EQ(reading_bytes({"--samples", "100000"}), 400000);
  EXPECT_THAT(run(plan_of_mlp({"--samples", "1000"})).out,
              HasSubstr("reading is counted for 1000 training samples, none read ahead\n"));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--samples", "0"},
        std::vector<std::string>{"--samples", "9223372036854775807"},
        std::vector<std::string>{"--samples", "5", "--limit-train", "5"}}) {
    const Outcome outcome = run(plan_of_mlp(wrong));
    EXPECT_EQ(outcome.code, 2) << wrong.back();
    EXPECT_THAT(outcome.err, HasSubstr("--samples"));
  }
}

TEST(cli_plan, explains_what_it_tried) {
  const Outcome kept = run(plan_of_mlp({"--memory-budget", "64MiB", "--explain"}));
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.out,
              ::testing::ContainsRegex("[0-9]+ candidates? tried, bytes without constants:\n"));
  EXPECT_THAT(kept.out, HasSubstr("  chosen: "));
  EXPECT_THAT(run(plan_of_mlp({"--memory-budget", "64MiB"})).out, Not(HasSubstr(" tried, ")));
}

TEST(cli_plan, writes_a_page_that_loads_nothing_from_elsewhere) {
  const TemporaryFolder folder;
  const std::string path = folder / "plan.html";
  const Outcome outcome = run(plan_of_mlp({"--memory-budget", "64MiB", "--report", path}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("written: " + path));
  const std::string page = read_text(path);
  EXPECT_THAT(page, HasSubstr("\"title\":\"mlp, batch 8\""));
  EXPECT_THAT(page, HasSubstr("\"budget\":67108864"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"")));
  // With --json, too, and where the budget cannot be kept: that is when one wants to see why.
  const Outcome refused = run(plan_of_mlp({"--memory-budget", "1KiB", "--report", path, "--json"}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(lines(refused.out), 1);
  EXPECT_THAT(read_text(path), HasSubstr("\"budget\":1024"));
}

TEST(cli_plan, stands_in_the_report_of_a_training) {
  const TemporaryFolder folder;
  const Outcome trained =
      run(short_training("mlp", folder / "out", {"--epochs", "1", "--memory-budget", "64MiB"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("budget 64.00 MiB (67,108,864 B): kept, "));
  EXPECT_THAT(trained.out,
              ::testing::ContainsRegex(
                  "memory: planned peak of a step .* to read samples; measured, both "));
  const std::string report = read_text(folder / "out/report.html");
  EXPECT_THAT(report, HasSubstr("[\"memory budget\",\"64.00 MiB (67,108,864 B)\"]"));
  EXPECT_THAT(report, HasSubstr("\"budget\":67108864,\"fits\":true"));
  EXPECT_THAT(report, HasSubstr("{\"name\":\"memory reuse\""));
}

TEST(cli_plan, refuses_a_path_that_takes_no_page_before_it_plans) {
  const TemporaryFolder folder;
  const Outcome missing = run(plan_of_mlp({"--report", folder / "none/plan.html"}));
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(lines(missing.err), 1) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr(folder / "none"));
  std::filesystem::create_directory(folder / "taken");
  const Outcome taken = run(plan_of_mlp({"--report", folder / "taken"}));
  EXPECT_EQ(taken.code, 1);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "taken"));
  const Outcome unnamed = run(plan_of_mlp({"--report", ""}));
  EXPECT_EQ(unnamed.code, 1);
  EXPECT_THAT(unnamed.err, HasSubstr("empty name"));
}

TEST(cli_plan, leaves_the_page_that_was_there_where_the_disk_is_full) {
  const TemporaryFolder folder;
  const std::string path = folder / "plan.html";
  write_text(path, "the old page");
  const Outcome full = run(plan_of_mlp({"--report", path}), {.file_bytes = 1000});
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr(path));
  EXPECT_EQ(read_text(path), "the old page");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
}  // namespace thimble::test::plan_test
