#include <gtest/gtest.h>

#include <cmath>

#include "io/html/training_report.h"

namespace thimble::io {
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

TEST(training_report, renders_an_empty_run) {
  EXPECT_TRUE(contains(training_report_html({}), "\"loss\":[]"));
}

}  // namespace
}  // namespace thimble::io
