// What a person at a terminal sees while training.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/process.h"

namespace thimble::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string seen_in_terminal(int columns) {
  const TemporaryFolder folder;
  Terminal terminal(columns);
  if (terminal.path().empty()) return {};
  Process process(short_training("mlp", folder / "out", {"--epochs", "40"}),
                  {.standard_error = terminal.path()});
  std::string seen = terminal.read();
  EXPECT_EQ(process.wait().code, 0);
  return seen;
}

TEST(cli_progress, in_a_terminal_is_a_bar_with_loss_step_time_and_time_left) {
  const std::string seen = seen_in_terminal(100);
  if (seen.empty()) GTEST_SKIP() << "this system gives no pseudo terminal";
  EXPECT_THAT(seen, HasSubstr("█"));
  EXPECT_THAT(seen, ContainsRegex("epoch [0-9]+/40 .* loss [0-9.]+ .*[0-9.]+ ms/step .* s left"));
  EXPECT_THAT(seen, ContainsRegex("epoch +1/40 +train loss [0-9.]+ +test loss [0-9.]+"));
  EXPECT_THAT(seen, ContainsRegex("epoch 40/40 +train loss"));
}

TEST(cli_progress, draws_no_bar_where_it_does_not_fit) {
  const std::string seen = seen_in_terminal(20);
  if (seen.empty()) GTEST_SKIP() << "this system gives no pseudo terminal";
  EXPECT_EQ(seen.find("█"), std::string::npos);
  EXPECT_THAT(seen, ContainsRegex("epoch +1/40 +train loss"));
}

}  // namespace
}  // namespace thimble::test
