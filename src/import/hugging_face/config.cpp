#include "import/hugging_face/config.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cmath>

#include "io/json/parse.h"
#include "ir/sizes.h"

namespace thimble::importer::hugging_face {
namespace {

constexpr int kMostDepth = 16;

}  // namespace

Config::Config(const std::string& file, std::string_view text)
    : file_(file), fields_(io::parse_json({.file = file}, text, kMostDepth)) {
  if (!fields_.is_object()) throw Error(file, "is no JSON object");
}

const nlohmann::json* Config::find(Names names, const char** name) const {
  for (const char* const candidate : names) {
    const auto found = fields_.find(candidate);
    if (found == fields_.end() || found->is_null()) continue;
    if (name != nullptr) *name = candidate;
    return &*found;
  }
  return nullptr;
}

void Config::fail(const std::string& field, const std::string& message) const {
  throw Error(file_, fmt::format("{}{}: {}", prefix_, field, message));
}

void Config::refuse_architecture(const std::string& given, const char* known) const {
  fail("architectures", fmt::format("{} is not read; thimble reads {}", given, known));
}

int64_t Config::size(Names names, std::optional<int64_t> otherwise) const {
  const char* name = *names.begin();
  const nlohmann::json* const value = find(names, &name);
  if (value == nullptr) {
    if (!otherwise) fail(name, "is missing");
    return *otherwise;
  }
  if (!value->is_number_integer() || *value < 1 || *value > ir::kMostElements) {
    fail(name, fmt::format("expected a whole number from 1 to {}, got {}", ir::kMostElements,
                           io::printable(*value)));
  }
  return value->get<int64_t>();
}

double Config::number(Names names, std::optional<double> otherwise) const {
  const char* name = *names.begin();
  const nlohmann::json* const value = find(names, &name);
  if (value == nullptr) {
    if (!otherwise) fail(name, "is missing");
    return *otherwise;
  }
  if (!value->is_number() || !(value->get<double>() > 0.0) ||
      !std::isfinite(value->get<double>())) {
    fail(name, fmt::format("expected a number above 0, got {}", io::printable(*value)));
  }
  return value->get<double>();
}

bool Config::flag(const char* name, bool otherwise) const {
  const nlohmann::json* const value = find({name});
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    fail(name, fmt::format("expected true or false, got {}", io::printable(*value)));
  }
  return value->get<bool>();
}

std::string Config::text(Names names, std::optional<std::string> otherwise) const {
  const char* name = *names.begin();
  const nlohmann::json* const value = find(names, &name);
  if (value == nullptr) {
    if (!otherwise) fail(name, "is missing");
    return *otherwise;
  }
  if (!value->is_string()) {
    fail(name, fmt::format("expected a text, got {}", io::printable(*value)));
  }
  return value->get<std::string>();
}

std::string Config::architecture(const std::string& otherwise) const {
  const nlohmann::json* const value = find({"architectures"});
  if (value == nullptr || (value->is_array() && value->empty())) return otherwise;
  if (!value->is_array() || !value->front().is_string()) {
    fail("architectures", fmt::format("expected a list of texts, got {}", io::printable(*value)));
  }
  return value->front().get<std::string>();
}

std::optional<Config> Config::object(const char* name) const {
  const nlohmann::json* const value = find({name});
  if (value == nullptr) return {};
  if (!value->is_object()) {
    fail(name, fmt::format("expected an object, got {}", io::printable(*value)));
  }
  return Config(file_, prefix_ + name + ".", *value);
}

void Config::only(const char* name, const nlohmann::json& value) const {
  const nlohmann::json* const given = find({name});
  if (given == nullptr || *given == value) return;
  fail(name, fmt::format("is {}; thimble reads models where it is {}", io::printable(*given),
                         value.dump()));
}

}  // namespace thimble::importer::hugging_face
