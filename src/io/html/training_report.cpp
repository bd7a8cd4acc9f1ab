#include "io/html/training_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/base64.h"
#include "io/html/assets.h"
#include "io/html/plan_data.h"

namespace thimble::io {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json numbers(const std::vector<float>& values) {
  ordered_json list = ordered_json::array();
  for (const float value : values) list.push_back(number(static_cast<double>(value)));
  return list;
}

// Makes JSON safe inside a script element: no "<" can end it.
std::string script_safe(const ordered_json& data) {
  const std::string text = data.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string training_report_html(const TrainingReport& report) {
  ordered_json data;
  data["title"] = report.title;
  data["facts"] = ordered_json::array();
  for (const auto& [name, value] : report.facts) data["facts"].push_back({name, value});
  data["first"] = report.first_step;
  data["loss"] = numbers(report.step_loss);
  data["rate"] = numbers(report.step_learning_rate);
  data["epochs"] = ordered_json::array();
  for (const ReportEpoch& e : report.epochs) {
    data["epochs"].push_back({{"epoch", e.epoch},
                              {"steps", e.steps},
                              {"train", number(e.train_loss)},
                              {"test", number(e.test_loss)},
                              {"rate", number(e.learning_rate)},
                              {"seconds", number(e.seconds)}});
  }
  data["plan"] = plan_data(report.plan);
  data["images"] = ordered_json::array();
  for (const ReportImage& image : report.images) {
    data["images"].push_back(
        {{"title", image.title}, {"caption", image.caption}, {"png", base64(image.png)}});
  }
  data["texts"] = ordered_json::array();
  for (const ReportText& text : report.texts) {
    data["texts"].push_back(
        {{"title", text.title}, {"caption", text.caption}, {"text", text.text}});
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>thimble</title>\n<style>{}</style>\n</head>\n<body>{}"
      "<script>\n'use strict';\nconst DATA = {};\n{}{}{}{}{}{}</script>\n</body>\n</html>\n",
      kReportStyle, kReportBody, script_safe(data), kCommonScript, kCurvesScript, kTimelineScript,
      kPointerScript, kMemoryScript, kPageScript);
}

}  // namespace thimble::io
