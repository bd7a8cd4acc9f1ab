// Kills a training at random moments, mostly while it saves: the file on disk is always a whole
// checkpoint from which the next run resumes.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "cli/process.h"

namespace thimble::test::kill_slow_test {
namespace {

constexpr int kKills = 50;
constexpr int kMostMicroseconds = 40000;

TEST(cli_kill, fifty_times_while_saving_leaves_a_whole_checkpoint) {
  const TemporaryFolder folder;
  const std::string checkpoint = folder / "out/checkpoint.safetensors";
  // An epoch is one step: nearly all of the time goes into saving.
  const std::vector<std::string> training{"train",         "mlp", "--out",        folder / "out",
                                          "--limit-train", "16",  "--limit-test", "1",
                                          "--threads",     "1",   "--epochs",     "1000000",
                                          "--batch",       "16",  "--lr",         "0.0000000001"};
  std::mt19937 random(7);
  int cut = 0;
  for (int round = 0; round < kKills; ++round) {
    std::vector<std::string> command = training;
    if (round > 0) command.insert(command.end(), {"--resume", checkpoint});
    Process process(command);
    ASSERT_TRUE(process.says("epoch")) << process.wait().err;
    ::usleep(random() % kMostMicroseconds);
    process.signal(SIGKILL);
    ASSERT_EQ(process.wait().code, 128 + SIGKILL);
    cut += std::filesystem::exists(checkpoint + ".partial") ? 1 : 0;
    const Outcome eval =
        run({"eval", "mlp", "--checkpoint", checkpoint, "--limit-test", "16", "--json"});
    ASSERT_EQ(eval.code, 0) << "round " << round << ": " << eval.err;
    EXPECT_GT(last_line_json(eval.out)["test_loss"], 0.0);
  }
  EXPECT_GT(cut, kKills / 4) << "kills must hit the saving, or the test shows nothing";
}

}  // namespace
}  // namespace thimble::test::kill_slow_test
