#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "io/html/training_report.h"
#include "io/large_plan.h"

namespace thimble::io::html_test {
namespace {

TrainingReport small_report() {
  TrainingReport report;
  report.title = "vae";
  report.facts = {{"steps", "3"}};
  report.step_loss = {3.0F, NAN, 1.0F};
  report.step_learning_rate = {0.1F, 0.1F, 0.1F};
  report.epochs = {{1, 3, 2.0, INFINITY, 0.5, 0.1}};
  report.plan.steps = {{"relu", "relu_1", 64}};
  report.plan.buffers = {{"x", "activation", DType::f32, {16}, 64, 0, 0, 1}};
  report.images = {{"Samples", "new ones", "abcd"}};
  report.texts = {{"Sample", "a new one", "Say boat,\n\"<b>\xff"}};
  return report;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(training_report, refers_to_nothing_outside) {
  const std::string page = training_report_html(small_report());
  for (const char* const outside : {"http://", "https://", "src=", "@import", "<link"}) {
    EXPECT_FALSE(contains(page, outside)) << outside;
  }
}

TEST(training_report, lets_no_name_break_out_of_its_script) {
  TrainingReport report = small_report();
  report.plan.buffers[0].name = "</script><script>alert(1)</script>";
  report.title = "<b>\xff";
  const std::string page = training_report_html(report);
  EXPECT_FALSE(contains(page, "alert(1)</script>"));
  EXPECT_FALSE(contains(page, "<b>"));
}

TEST(training_report, writes_what_is_not_finite_as_null) {
  EXPECT_TRUE(contains(training_report_html(small_report()), "\"loss\":[3.0,null,1.0]"));
}

// Test vectors of RFC 4648.
TEST(training_report, encodes_pictures_in_base64) {
  TrainingReport report = small_report();
  const std::pair<const char*, const char*> cases[] = {
      {"f", "\"Zg==\""}, {"fo", "\"Zm8=\""}, {"foo", "\"Zm9v\""}, {"foob", "\"Zm9vYg==\""}};
  for (const auto& [bytes, text] : cases) {
    report.images[0].png = bytes;
    EXPECT_TRUE(contains(training_report_html(report), text)) << bytes;
  }
}

TEST(training_report, holds_texts_as_data) {
  const std::string page = training_report_html(small_report());
  EXPECT_TRUE(contains(page, "Say boat,\\n\\\""));
  EXPECT_FALSE(contains(page, "\xff"));
}

TEST(training_report, holds_each_name_once) {
  TrainingReport report = small_report();
  report.plan.buffers.push_back(report.plan.buffers[0]);
  report.plan.buffers[0].name = report.plan.buffers[1].name = "twice_made";
  const std::string page = training_report_html(report);
  EXPECT_EQ(page.find("twice_made"), page.rfind("twice_made"));
  EXPECT_TRUE(contains(page, "\"name\":[0,0],"));
}

TEST(training_report, marks_recomputed_and_fetched_buffers) {
  TrainingReport report = small_report();
  report.plan.buffers.resize(3, report.plan.buffers[0]);
  report.plan.buffers[1].made = Made::fetched;
  report.plan.buffers[2].made = Made::recomputed;
  const std::string page = training_report_html(report);
  EXPECT_TRUE(contains(page, "\"recomputed\":[2],\"fetched\":[1]"));
}

TEST(training_report, holds_strategies_and_budget) {
  TrainingReport report = small_report();
  report.plan.budget_bytes = 4096;
  report.plan.fits = false;
  report.plan.nearest_feasible_bytes = 8192;
  report.plan.strategies = {{"swap", "3 values", 10, 20, 0.0, 30, NAN, true}};
  const std::string page = training_report_html(report);
  EXPECT_TRUE(contains(page, "\"budget\":4096,\"fits\":false,\"nearest\":8192"));
  EXPECT_TRUE(contains(page,
                       "{\"name\":\"swap\",\"detail\":\"3 values\",\"saved\":10,\"left\":20,"
                       "\"flops\":0.0,\"io\":30,\"ms\":0.0,\"lossless\":true}"));
}

TEST(training_report, of_20000_buffers_stays_small) {
  constexpr size_t kBytesPerBuffer = 80, kFixedParts = 60000;
  TrainingReport report;
  report.plan = test::large_plan(4700);
  ASSERT_GT(report.plan.buffers.size(), 20000U);
  EXPECT_LT(training_report_html(report).size(),
            kBytesPerBuffer * report.plan.buffers.size() + kFixedParts);
}

// Elements that the scripts fill must stand in the page.
TEST(training_report, has_every_element_its_scripts_ask_for) {
  const std::string page = training_report_html(small_report());
  const std::regex asked("(?:byId|legend|table|Table|curve)\\('([a-z-]+)'");
  int elements = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), asked), end; it != end; ++it) {
    ++elements;
    EXPECT_TRUE(contains(page, "id=\"" + (*it)[1].str() + "\"")) << (*it)[1];
  }
  EXPECT_GT(elements, 20);
}

TEST(training_report, renders_an_empty_run) {
  EXPECT_TRUE(contains(training_report_html({}), "\"loss\":[]"));
}

}  // namespace
}  // namespace thimble::io::html_test
