// Progress of a training as a user at a terminal sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/process.h"
#include "progress_line.h"

namespace thimble::test::progress_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(progress_line, fills_the_bar_in_proportion) {
  EXPECT_EQ(cli::progress_line(16, 0, 4, "a", "bc"), "a ░░░░░░░ bc");
  EXPECT_EQ(cli::progress_line(16, 2, 4, "a", "bc"), "a ████░░░ bc");
  EXPECT_EQ(cli::progress_line(16, 4, 4, "a", "bc"), "a ███████ bc");
  EXPECT_EQ(cli::progress_line(16, 0, 0, "a", "bc"), "a ░░░░░░░ bc");
}

TEST(progress_line, has_a_bar_of_at_most_30_columns_and_none_without_room) {
  const auto cells = [](const std::string& line) {
    return std::count(line.begin(), line.end(), '\x96');  // the middle byte of both
  };
  EXPECT_EQ(cells(cli::progress_line(500, 1, 3, "a", "bc")), 30);
  EXPECT_EQ(cells(cli::progress_line(10, 1, 3, "a", "bc")), 1);
  EXPECT_EQ(cli::progress_line(8, 1, 3, "a", "bc"), "");
}

// Everything a training writes to a terminal of the given width that is its standard error.
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
}  // namespace thimble::test::progress_test
