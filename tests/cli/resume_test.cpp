// Stopping, resuming and the number of threads never change the bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "cli/process.h"

namespace thimble::test::resume_test {
namespace {

using ::testing::HasSubstr;

// Long enough to be stopped before the end, even on a fast machine.
const std::vector<std::string> kLong{"--epochs", "60", "--batch", "32", "--json"};

std::string hash_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.code == 0 ? last_line_json(outcome.out)["weights_sha256"].get<std::string>()
                           : std::string();
}

std::vector<std::string> resumed(std::vector<std::string> training, const std::string& file) {
  training.insert(training.end(), {"--resume", file});
  return training;
}

void expect_stop_and_resume(int signal_number) {
  const TemporaryFolder folder;
  const std::string straight = hash_of(run(short_training("lenet5", folder / "whole", kLong)));
  const std::vector<std::string> training = short_training("lenet5", folder / "parts", kLong);
  const std::string checkpoint = folder / "parts/checkpoint.safetensors";
  Process process(training);
  ASSERT_TRUE(process.says("epoch  2/60"));
  process.signal(signal_number);
  const Outcome stopped = process.wait();
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_EQ(stopped.out, "");
  EXPECT_THAT(stopped.err, HasSubstr("stopped after step "));
  EXPECT_THAT(stopped.err, HasSubstr("--resume " + checkpoint));
  EXPECT_EQ(hash_of(run(resumed(training, checkpoint))), straight);
}

TEST(cli_resume, ctrl_c_finishes_the_step_saves_and_going_on_gives_the_same_bits) {
  expect_stop_and_resume(SIGINT);
}

TEST(cli_resume, a_termination_request_is_treated_as_ctrl_c) { expect_stop_and_resume(SIGTERM); }

// A training of the same length that was stopped between epochs.
TEST(cli_resume, after_a_kill_gives_the_same_bits) {
  const TemporaryFolder folder;
  const std::string straight = hash_of(run(short_training("lenet5", folder / "whole", kLong)));
  const std::vector<std::string> training = short_training("lenet5", folder / "parts", kLong);
  Process process(training);
  ASSERT_TRUE(process.says("epoch  2/60"));
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().code, 128 + SIGKILL);
  EXPECT_EQ(hash_of(run(resumed(training, folder / "parts/checkpoint.safetensors"))), straight);
}

TEST(cli_resume, of_a_finished_training_changes_nothing) {
  const TemporaryFolder folder;
  const std::vector<std::string> training =
      short_training("vae", folder / "out", {"--epochs", "1", "--json"});
  const std::string first = hash_of(run(training));
  const Outcome again = run(resumed(training, folder / "out/checkpoint.safetensors"));
  EXPECT_EQ(hash_of(again), first);
  EXPECT_TRUE(last_line_json(again.out)["ms_per_step_median"].is_null());
}

TEST(cli_resume, takes_more_epochs_where_the_schedule_does_not_depend_on_them) {
  const TemporaryFolder folder;
  const auto training = [&](const char* epochs) {
    return short_training("mlp", folder / epochs,
                          {"--schedule", "constant", "--epochs", epochs, "--json"});
  };
  const std::string straight = hash_of(run(training("2")));
  ASSERT_EQ(run(training("1")).code, 0);
  EXPECT_EQ(hash_of(run(resumed(training("2"), folder / "1/checkpoint.safetensors"))), straight);
}

// A new training's first steps change learnt weights only a little.
TEST(cli_resume, weights_alone_begin_a_new_training) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(short_training("mlp", folder / "old", {"--epochs", "8"})).code, 0);
  std::vector<std::string> training =
      short_training("mlp", folder / "new", {"--epochs", "1", "--lr", "1e-9", "--json"});
  const auto fresh = last_line_json(run(training).out);
  training.insert(training.end(), {"--weights", folder / "old/checkpoint.safetensors"});
  const auto warm = last_line_json(run(training).out);
  EXPECT_EQ(warm["steps"], fresh["steps"]);
  EXPECT_LT(warm["test_loss"].get<double>(), 0.8 * fresh["test_loss"].get<double>());
}

TEST(cli_resume, same_bits_with_one_two_and_four_threads) {
  // A step of the lstm takes as long as many of the others.
  const std::pair<const char*, const char*> recipes[] = {
      {"vae", "160"}, {"lenet5", "160"}, {"mlp", "160"}, {"lstm", "32"}};
  for (const auto& [recipe, samples] : recipes) {
    std::vector<std::string> hashes;
    for (const char* threads : {"1", "2", "4"}) {
      const TemporaryFolder folder;
      hashes.push_back(
          hash_of(run({"train", recipe, "--out", folder / "out", "--limit-train", samples,
                       "--limit-test", "32", "--epochs", "2", "--threads", threads, "--json"})));
    }
    EXPECT_NE(hashes[0], "");
    EXPECT_EQ(hashes[0], hashes[1]) << recipe;
    EXPECT_EQ(hashes[0], hashes[2]) << recipe;
  }
}

TEST(cli_resume, another_seed_gives_other_bits) {
  const TemporaryFolder folder;
  const auto training = [&](const char* seed) {
    return hash_of(
        run(short_training("mlp", folder / "out", {"--epochs", "1", "--seed", seed, "--json"})));
  };
  EXPECT_NE(training("1"), training("2"));
}

}  // namespace
}  // namespace thimble::test::resume_test
