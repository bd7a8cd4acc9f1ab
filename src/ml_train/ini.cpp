#include "ml_train/ini.h"

#include <algorithm>
#include <stdexcept>

#include "ml_train/properties.h"

namespace thimble::ml_train {
namespace {

[[noreturn]] void fail(const std::string& where, size_t line, const std::string& message) {
  throw std::invalid_argument("[" + where + "] line " + std::to_string(line) + ": " + message);
}

// Up to a comment outside of quotes, without quotes around it.
std::string value_of(std::string_view text) {
  char quote = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (quote == 0 && (c == '#' || c == ';')) break;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
  }
  std::string value = trimmed(text.substr(0, end));
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '"' || value.front() == '\'');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

const std::string* IniSection::find(std::string_view key) const {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const auto& pair) { return pair.first == key; });
  return found == keys.end() ? nullptr : &found->second;
}

std::vector<IniSection> parse_ini(std::string_view text, const std::string& where) {
  std::vector<IniSection> sections;
  if (text.find('\0') != std::string_view::npos) fail(where, 1, "is no text");
  size_t number = 0;
  for (const std::string& raw : split_text(text, '\n')) {
    ++number;
    const std::string line = trimmed(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      const size_t end = line.find(']');
      if (end == std::string::npos || !value_of(std::string_view(line).substr(end + 1)).empty()) {
        fail(where, number, "expected [section], got " + line);
      }
      const std::string name = trimmed(std::string_view(line).substr(1, end - 1));
      if (name.empty()) fail(where, number, "the section has no name");
      sections.push_back({name, {}});
      continue;
    }
    if (sections.empty()) fail(where, number, "expected a [section] first, got " + line);
    const size_t equals = line.find('=');
    const std::string key =
        lower(trimmed(std::string_view(line).substr(0, std::min(equals, line.size()))));
    const std::string value =
        equals == std::string::npos ? "" : value_of(std::string_view(line).substr(equals + 1));
    if (key.empty() || value.empty()) fail(where, number, "expected key = value, got " + line);
    auto& keys = sections.back().keys;
    std::erase_if(keys, [&](const auto& pair) { return pair.first == key; });
    keys.emplace_back(key, value);
  }
  for (const IniSection& section : sections) {
    if (section.keys.empty()) {
      throw std::invalid_argument("[" + where + "] the section [" + section.name + "] has no keys");
    }
  }
  return sections;
}

std::string to_text(const std::vector<IniSection>& sections) {
  std::string text;
  for (const IniSection& section : sections) {
    text += "[" + section.name + "]\n";
    for (const auto& [key, value] : section.keys) {
      const bool quotes = value.find_first_of("#;") != std::string::npos;
      text += key + " = " + (quotes ? "\"" + value + "\"" : value) + "\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace thimble::ml_train
