// Recipes that classify colour images, from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.h"

namespace thimble::test::image_recipes_test {
namespace {

using ::testing::HasSubstr;

struct Known {
  const char* recipe;
  int64_t parameters;
};

class CliImages : public testing::TestWithParam<Known> {};

TEST_P(CliImages, are_planned_and_summarised) {
  const auto plan = last_line_json(run({"plan", GetParam().recipe, "--json"}).out);
  EXPECT_GT(plan["planned_peak_bytes"].get<int64_t>(), 4 * GetParam().parameters);
  const auto summary = last_line_json(run({"summary", GetParam().recipe, "--json"}).out);
  EXPECT_EQ(summary["parameters"], GetParam().parameters);
}

// Images, dropout and the order of sums depend on the seed, not on the number of threads.
TEST_P(CliImages, train_to_the_same_bits_on_one_thread_and_on_three) {
  const TemporaryFolder folder;
  std::string hashes[2];
  for (const int i : {0, 1}) {
    const Outcome outcome = run({"train", GetParam().recipe, "--out", folder / "out",
                                 "--limit-train", "16", "--limit-test", "8", "--batch", "4",
                                 "--epochs", "1", "--threads", i == 0 ? "1" : "3", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("built-in shapes: 16 training and 8 test samples"));
    const auto json = last_line_json(outcome.out);
    EXPECT_TRUE(json["test_accuracy"].is_number());
    hashes[i] = json["weights_sha256"].get<std::string>();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST_P(CliImages, say_which_file_of_cifar10_is_missing) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run({"train", GetParam().recipe, "--data", folder / "none", "--out", folder / "out"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("data_batch_1.bin"));
  EXPECT_THAT(outcome.err, HasSubstr("cifar-10-batches-bin"));
  EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Recipes, CliImages,
                         testing::Values(Known{"mobilenetv2", 408938}, Known{"resnet18", 11173962}),
                         [](const auto& info) { return std::string(info.param.recipe); });

}  // namespace
}  // namespace thimble::test::image_recipes_test
