// Training within a memory budget from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.h"

namespace thimble::test::budget_test {
namespace {

using ::testing::HasSubstr;

TEST(cli_budget, is_kept_by_training_and_changes_no_weight) {
  const TemporaryFolder folder;
  const auto train = [&](const std::vector<std::string>& options) {
    std::vector<std::string> words{
        "train", "vae",       "--epochs", "1",      "--limit-train", "70",          "--limit-test",
        "20",    "--threads", "1",        "--json", "--out",         folder / "out"};
    words.insert(words.end(), options.begin(), options.end());
    return run(words);
  };
  const auto free = last_line_json(train({}).out);
  for (const auto& [budget, swap] : {std::pair("760KiB", "never"), std::pair("450KiB", "auto")}) {
    const Outcome outcome = train({"--memory-budget", budget, "--swap", swap});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("thimble sample vae --checkpoint"));
    const auto json = last_line_json(outcome.out);
    EXPECT_LE(json["measured_peak_bytes"].get<int64_t>(), std::stoi(budget) * 1024);
    EXPECT_GE(json["measured_peak_bytes"], json["planned_peak_bytes"]);
    // Both sides count the step and the reading of samples; programs for smaller last batches need
    // a little more.
    constexpr int64_t kSmallerBatches = 8192;
    EXPECT_LE(json["measured_peak_bytes"].get<int64_t>(),
              json["planned_peak_bytes"].get<int64_t>() +
                  json["input_pipeline_bytes"].get<int64_t>() + kSmallerBatches);
    EXPECT_EQ(json["weights_sha256"], free["weights_sha256"]);
    EXPECT_EQ(json["test_loss"], free["test_loss"]);
    const bool swaps = json["swap_written_bytes"].get<int64_t>() > 0;
    EXPECT_EQ(swaps, std::string(swap) == "auto");
    EXPECT_EQ(json["swap_read_bytes"].get<int64_t>() > 0, swaps);
    EXPECT_EQ(json["swap_stall_ms"].get<double>() > 0.0, swaps);
  }
}

}  // namespace
}  // namespace thimble::test::budget_test
