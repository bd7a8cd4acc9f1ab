// Contributions as JSON.
#include <thimble/scheme_search.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/model/fields.h"

namespace thimble {
namespace {

using io::Fields;
using nlohmann::json;

constexpr size_t kMostContributionBytes = size_t{16} << 20;
constexpr size_t kMostParts = 1000000;
constexpr int kMostContributionDepth = 4;

double number(const Fields& fields, const char* name) {
  const json& value = fields.at(name);
  if (!value.is_number()) fields.expected(name, "a number", value);
  return value.get<double>();
}

int64_t count(const Fields& fields, const char* name) {
  const json& value = fields.at(name);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > INT32_MAX) {
    fields.expected(name, "a whole number, 0 or more", value);
  }
  return value.get<int64_t>();
}

}  // namespace

double Contributions::gain(const Weights& part) const {
  const auto below = std::find_if(biases.begin(), biases.end(),
                                  [&](const Biases& one) { return one.last == part.biases; });
  return part.score - (below == biases.end() ? base : below->score);
}

std::string Contributions::text() const {
  nlohmann::ordered_json made{{"metric", metric}, {"last_layer", last_layer}, {"base", base}};
  auto& all = made["biases"] = nlohmann::ordered_json::array();
  for (const Biases& part : biases) all.push_back({{"last", part.last}, {"score", part.score}});
  auto& parts = made["weights"] = nlohmann::ordered_json::array();
  for (const Weights& part : weights) {
    parts.push_back({{"layer", part.layer},
                     {"ratio", part.ratio},
                     {"biases", part.biases},
                     {"score", part.score}});
  }
  if (!settings.empty()) made["settings"] = settings;
  return made.dump(1);
}

Contributions Contributions::parse(std::string_view text, const std::string& name) {
  const json parsed = io::parse_json({.file = name}, text, kMostContributionDepth);
  const Fields fields(name, "the contributions", parsed,
                      {"metric", "last_layer", "base", "biases", "weights", "settings"});
  Contributions made{.metric = fields.text("metric"),
                     .last_layer = fields.text("last_layer"),
                     .base = number(fields, "base")};
  for (const json& one : fields.list("biases", kMostParts)) {
    const Fields part(name, "an entry of biases", one, {"last", "score"});
    made.biases.push_back({count(part, "last"), number(part, "score")});
  }
  for (const json& one : fields.list("weights", kMostParts)) {
    const Fields part(name, "an entry of weights", one, {"layer", "ratio", "biases", "score"});
    const double ratio = number(part, "ratio");
    if (!(ratio > 0.0 && ratio <= 1.0)) {
      part.expected("ratio", "a number above 0, at most 1", part.at("ratio"));
    }
    made.weights.push_back(
        {part.text("layer"), ratio, count(part, "biases"), number(part, "score")});
  }
  if (const json* settings = fields.find("settings"); settings != nullptr) {
    const auto is_text = [](const json& value) { return value.is_string(); };
    if (!settings->is_object() || !std::all_of(settings->begin(), settings->end(), is_text)) {
      fields.expected("settings", "an object of texts", *settings);
    }
    for (const auto& [key, value] : settings->items()) made.settings[key] = value;
  }
  return made;
}

Contributions Contributions::load(const std::string& path) {
  return parse(io::read_file(path, kMostContributionBytes), path);
}

}  // namespace thimble
