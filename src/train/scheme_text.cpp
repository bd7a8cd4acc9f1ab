// Schemes of sparse updates as JSON.
#include <fmt/format.h>
#include <thimble/error.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/model/fields.h"
#include "train/scheme.h"

namespace thimble {
namespace {

using io::Fields;
using nlohmann::json;

constexpr size_t kMostSchemeBytes = size_t{16} << 20;
constexpr int kMostSchemeDepth = 4;
constexpr const char* kChoices[] = {"magnitude", "contribution"};

bool is_index(const json& value) {
  return value.is_number_integer() && (value.is_number_unsigned() || value.get<int64_t>() >= 0) &&
         value.get<uint64_t>() <= static_cast<uint64_t>(INT32_MAX);
}

UpdateScheme::Part part_of(const Fields& fields, const std::string& layer, const json& value) {
  UpdateScheme::Part part;
  if (value.is_number()) {
    part.ratio = value.get<double>();
    if (part.ratio > 0.0 && part.ratio <= 1.0) return part;
    fields.fail(
        fmt::format("{}: expected a ratio above 0, at most 1, of the input channels, got "
                    "{}; leave out a layer that is not to be trained",
                    io::printable(layer), io::printable(value)));
  }
  if (!value.is_array() || value.empty()) {
    fields.fail(
        fmt::format("{}: expected a ratio such as 0.25, or a list of channels such as [0, "
                    "3], got {}",
                    io::printable(layer), io::printable(value)));
  }
  for (const json& channel : value) {
    if (!is_index(channel)) {
      fields.fail(fmt::format("{}: expected numbers of channels, from 0 on, got {}",
                              io::printable(layer), io::printable(channel)));
    }
    part.channels.push_back(channel.get<int64_t>());
  }
  return part;
}

}  // namespace

UpdateScheme UpdateScheme::parse(std::string_view text, const std::string& name) {
  const json parsed = io::parse_json({.file = name}, text, kMostSchemeDepth);
  const Fields fields(name, "the scheme", parsed, {"bias_last", "weights", "choice"});
  UpdateScheme scheme;
  if (const json* const biases = fields.find("bias_last"); biases != nullptr) {
    if (!is_index(*biases)) {
      fields.expected("bias_last", "a whole number of layers, 0 or more", *biases);
    }
    scheme.bias_last = biases->get<int64_t>();
  }
  if (const json* const weights = fields.find("weights"); weights != nullptr) {
    if (!weights->is_object()) {
      fields.expected("weights", "an object with a ratio or a list of channels for each layer",
                      *weights);
    }
    for (const auto& [layer, part] : weights->items()) {
      scheme.weights.emplace(layer, part_of(fields, layer, part));
    }
  }
  if (const json* const choice = fields.find("choice"); choice != nullptr) {
    if (*choice == kChoices[1]) {
      scheme.choice = Choice::contribution;
    } else if (*choice != kChoices[0]) {
      fields.expected("choice", "\"magnitude\" or \"contribution\"", *choice);
    }
  }
  return scheme;
}

UpdateScheme UpdateScheme::load(const std::string& path) {
  return parse(io::read_file(path, kMostSchemeBytes), path);
}

std::string UpdateScheme::text() const {
  nlohmann::ordered_json json{{"bias_last", bias_last}};
  auto& layers = json["weights"] = nlohmann::ordered_json::object();
  for (const auto& [layer, part] : weights) {
    if (part.channels.empty()) {
      layers[layer] = part.ratio;
    } else {
      layers[layer] = part.channels;
    }
  }
  if (choice != Choice::magnitude) json["choice"] = kChoices[static_cast<int>(choice)];
  return json.dump();
}

}  // namespace thimble
