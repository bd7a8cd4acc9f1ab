// The text of a plan: its table of strategies and what it says of the budget.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/plan.h>

#include <sstream>

#include "plan/text_parts.h"

namespace thimble::plan::text_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Plan small_plan() {
  Plan plan;
  plan.batch = 8;
  plan.parameter_bytes = 4096;
  plan.arena_bytes = 1 << 20;
  plan.planned_peak_bytes = plan.lower_bound_bytes = plan.parameter_bytes + plan.arena_bytes;
  plan.steps = {{"relu", "first", 1 << 20}, {"add", "", 64}};
  plan.buffers = {{"a", "activation", DType::f32, {4096}, 16384, 0, 0, 1},
                  {"b", "activation", DType::f32, {16}, 64, 16384, 0, 2}};
  return plan;
}

std::vector<PlanStrategy> strategies() {
  return {{"own memory for every buffer", "", 0, int64_t{5} << 30, 0.0, 0, 0.0, true},
          {"memory reuse", "", int64_t{1023} << 20, 4 << 20, 0.0, 0, 0.0, true},
          {"recomputation", "12 values of several layers", 1536, 3 << 20, 1.25e9, 0, 0.5, true},
          {"swap", "3 values", 1 << 20, 2 << 20, 0.0, int64_t{900} << 20, 1234.0, true},
          {"bf16 activations", "", 1 << 20, 1 << 20, 0.0, 0, 12.0, false}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(plan_text, lists_strategies_in_aligned_columns) {
  Plan plan = small_plan();
  plan.strategies = strategies();
  EXPECT_THAT(
      plan.text(),
      HasSubstr(
          "strategy                               bytes saved  bytes left   time cost    more work"
          "    file I/O\n"
          "  own memory for every buffer                    -    5.00 GiB           -            -"
          "           -\n"
          "  memory reuse                         1023.00 MiB    4.00 MiB           -            -"
          "           -\n"
          "  recomputation                           1.50 KiB    3.00 MiB     0.50 ms   1.25 Gflop"
          "           -\n"
          "    12 values of several layers\n"
          "  swap, 3 values                          1.00 MiB    2.00 MiB      1.23 s            -"
          "  900.00 MiB\n"
          "  bf16 activations (lossy)                1.00 MiB    1.00 MiB    12.00 ms            -"
          "           -\n"
          "  (lossy): asked for; results are not those of a training without it\n"));
}

TEST(plan_text, leaves_out_empty_columns_and_notes) {
  Plan plan = small_plan();
  EXPECT_THAT(plan.text(), Not(HasSubstr("strategy")));
  plan.strategies = {strategies()[0], strategies()[1]};
  const std::string text = plan.text();
  EXPECT_THAT(text, HasSubstr("bytes left   time cost\n"));
  EXPECT_THAT(text, Not(HasSubstr("lossy")));
  EXPECT_THAT(text, Not(HasSubstr("budget")));
  EXPECT_THAT(text, Not(HasSubstr("swap")));
}

TEST(plan_text, says_why_there_is_no_swap_file) {
  Plan plan = small_plan();
  plan.no_swap = "needs 3 bytes in /tmp";
  EXPECT_THAT(plan.text(), HasSubstr("\nno swap file:\n  needs 3 bytes in /tmp\n"));
}

TEST(plan_text, stays_within_its_columns) {
  Plan plan = small_plan();
  plan.strategies = strategies();
  plan.strategies[1].detail = std::string(60, 'x') + " " + std::string(60, 'y') + "  z";
  plan.swap_written_bytes = plan.swap_read_bytes = int64_t{12} << 30;
  plan.budget_bytes = int64_t{3} << 40;
  int lines = 0;
  for (const std::string& line : lines_of(plan.text())) {
    ++lines;
    EXPECT_LE(line.size(), kTextColumns) << line;
  }
  EXPECT_GT(lines, 15);
  EXPECT_THAT(plan.text(), HasSubstr("\n    " + std::string(60, 'y') + " z\n"));
}

TEST(plan_text, says_what_a_kept_budget_has_to_spare) {
  Plan plan = small_plan();
  plan.input_pipeline_bytes = 1024;
  plan.budget_bytes = plan.planned_peak_bytes + 1024 + 512;
  EXPECT_THAT(plan.text(), HasSubstr("beside it the input pipeline: 1.00 KiB (1,024 B)\n"));
  EXPECT_THAT(plan.text(), HasSubstr("budget 1.01 MiB (1,054,208 B): kept, 512 B to spare\n"));
}

TEST(plan_text, names_the_nearest_budget_where_one_cannot_be_kept) {
  Plan plan = small_plan();
  plan.budget_bytes = 2048;
  plan.fits = false;
  plan.nearest_feasible_bytes = plan.planned_peak_bytes;
  const std::string text = plan.text();
  EXPECT_THAT(text, HasSubstr("budget 2.00 KiB (2,048 B): cannot be kept, 1.00 MiB too little\n"));
  EXPECT_THAT(text, HasSubstr("  nearest budget that can: 1.00 MiB (1,052,672 B)\n"));
  EXPECT_THAT(text, HasSubstr("  memory held during the whole step alone takes 4.00 KiB\n"));
  EXPECT_THAT(text, HasSubstr("peak at op 0 of 0 to 1: relu of first\n"));
}

TEST(plan_text, says_how_a_batch_and_a_step_are_divided) {
  Plan plan = small_plan();
  plan.micro_batches = 4;
  plan.step_ms = 12.5;
  plan.staging_bytes = 65536;
  plan.in_file_bytes = 2048;
  plan.swap_read_bytes = plan.swap_written_bytes = 1 << 20;
  plan.swap_file_bytes = 2 << 20;
  plan.swap_busy_ms = 1.5;
  plan.swap_stall_ms = 0.25;
  const std::string text = plan.text();
  EXPECT_THAT(text, HasSubstr("planned peak of a step, batch 8 in 4 micro-batches: "));
  EXPECT_THAT(
      text,
      HasSubstr(
          "swap file, each step: 1.00 MiB written, 1.00 MiB read, "
          "predicted 1.50 ms, waiting 0.25 ms\nswap file, on the disk: 2.00 MiB (2,097,152 B)\n"));
  EXPECT_THAT(text, HasSubstr("predicted step: 12.50 ms\n"));
  EXPECT_THAT(text, HasSubstr("    of both in the swap file                    -2,048 B\n"));
  EXPECT_THAT(text, HasSubstr("  staging for the swap file                     65,536 B\n"));
}

TEST(plan_text, counts_what_it_does_not_list) {
  const Plan plan = small_plan();
  EXPECT_THAT(plan.text(1), HasSubstr("  and 1 smaller one\n"));
  EXPECT_THAT(plan.text(0), HasSubstr("  and 2 smaller ones\n"));
  EXPECT_THAT(plan.text(2), Not(HasSubstr("smaller")));
}

TEST(plan_text, writes_numbers_in_units_that_can_be_read) {
  EXPECT_EQ(short_bytes(1023), "1023 B");
  EXPECT_EQ(short_bytes(-2048), "-2.00 KiB");
  EXPECT_EQ(short_bytes(int64_t{3} << 29), "1.50 GiB");
  EXPECT_EQ(short_flops(999.0), "999 flop");
  EXPECT_EQ(short_flops(1.5e6), "1.5 Mflop");
  EXPECT_EQ(short_flops(2e16), "20 Pflop");
  EXPECT_EQ(short_time(0.004), "< 0.01 ms");
  EXPECT_EQ(short_time(1500.0), "1.50 s");
  EXPECT_EQ(wrapped("", 4), "");
}

}  // namespace
}  // namespace thimble::plan::text_test
